"""Requests of `responses`: what they ask for, which fields are refused, and the bytes that go upstream."""

from collections.abc import Iterator, Mapping
from typing import Any

from common import strict_json
from common.strict_json import Trail
from relay.families import fields, refused_fields
from relay.families.base import TOOL_CALLS, AskedCall, CallPath, RefusedField
from relay.families.refused_fields import AUDIO_INPUT, COSTS, FOREIGN
from relay.families.requests import contents, reading, tools
from relay.families.requests.contents import Contents
from relay.families.requests.tables import openai_tools
from relay.families.requests.tables.responses import FIELDS
from relay.families.requests.tools import Listed, ProviderTool, is_openai_clients
from relay.wire import splicing

ROOTS = ("input", "instructions", "prompt")
MOST_CALLS = "max_tool_calls"
LISTED_ONLY = "mcp_list_tools"
# Items that carry their content; with only an id they refer to stored ones.
CONTENTS: Mapping[str, tuple[str, ...]] = {
    "reasoning": ("encrypted_content", "summary", "content"),
    "compaction": ("encrypted_content",),
    "image_generation_call": ("result",),
}
OF_ACCOUNT = (
    *((parent, name) for parent in ("container", "environment") for name in ("container_id", "file_ids")),
    ("input_image_mask", "file_id"),
)
USUAL_MODES = ("standard",)
ITSELF = 'send the items themselves, with store: false and include: ["reasoning.encrypted_content"]'
STORED_ITEM = f"names an item that is stored with the provider: {ITSELF}"
STORED_RESPONSE = f"names a response that is stored with the provider: {ITSELF}"
GOES_ON = "would continue after this call"
ACCOUNTS = "depends on the operator's account with the provider"


def read(document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
    """Reads the call. Raises InvalidRequest."""
    fields.query(path.query, ())
    unknown = [*FIELDS.unknown(document), *_unknown_of_tools(document)]
    held = contents.find_contents(document, ROOTS)
    most = fields.count(document, MOST_CALLS, most=tools.MOST_CALLS)
    run = list(_providers(document))
    return reading.build_call(
        document,
        raw,
        held,
        passes=2 if document.get("context_management") else 1,  # one of the passes writes a summary
        model=fields.model(document),
        is_stream=fields.flag(document, "stream"),
        amounts=frozenset({AUDIO_INPUT} if held.sounds else ()),
        tools=tools.limits(run),
        tool_types=tools.types(run),
        tool_calls=most or TOOL_CALLS,
        sent_tool_limits=[(MOST_CALLS,)] if run and most is None else (),
        output_limit=fields.count(document, "max_output_tokens"),
        refused=[*_refused(document, held), *unknown],
    )


def _refused(document: Mapping[str, Any], held: Contents) -> list[RefusedField]:
    """Returns the fields that pass only where opened."""
    return [
        *refused_fields.find_set(document, ("background", "background_options"), GOES_ON),
        *refused_fields.find_set(document, ("previous_response_id", "conversation"), STORED_RESPONSE),
        *refused_fields.find_set(document, ("access_programs",), ACCOUNTS),
        *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
        *_mode(document),
        *refused_fields.cache_options(document),
        *_objects(document),
        *(tool.refusal() for tool in _providers(document)),
        *_stored(document),
        *refused_fields.refuse_unpriced(held.sounds, AUDIO_INPUT),
        *refused_fields.refuse_costly(held.costly),
        *refused_fields.refuse_foreign(held.stored),
    ]


def with_limit(raw: bytes, limit: int) -> bytes:
    """Adds an output limit to a body without one."""
    return splicing.with_member(raw, (), "max_output_tokens", str(limit).encode())


def _tools(document: Mapping[str, Any]) -> Iterator[Listed]:
    """Returns the tools of the request and those that are input items."""
    yield from tools.list_tools(document.get("tools"))
    for trail, item in _with_tools(document):
        if item.get("type") != LISTED_ONLY:
            yield from tools.list_tools(item["tools"], trail)


def _with_tools(document: Mapping[str, Any]) -> Iterator[tuple[Trail, dict[str, Any]]]:
    """Yields the items that hold tools, with their paths."""
    return (((*trail, "tools"), item) for trail, item in _items(document) if "tools" in item)


def _items(document: Mapping[str, Any]) -> Iterator[tuple[Trail, dict[str, Any]]]:
    """Finds what the input holds beside text: items in a list, or a single one."""
    listed = document.get("input")
    if isinstance(listed, dict):
        yield ("input",), listed
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, dict):
            yield ("input", index), item


def _unknown_of_tools(document: Mapping[str, Any]) -> list[RefusedField]:
    told = [
        tool
        for trail, item in _with_tools(document)
        if item.get("type") == LISTED_ONLY
        for tool in tools.list_tools(item["tools"], trail)
    ]
    return [
        *tools.find_unknown(_tools(document), is_openai_clients, openai_tools.CLIENTS, openai_tools.PROVIDERS),
        *tools.find_unknown(told, is_openai_clients, openai_tools.LISTED, openai_tools.LISTED),
    ]


def _providers(document: Mapping[str, Any]) -> Iterator[ProviderTool]:
    return tools.find_provider_tools(_tools(document), is_openai_clients)


def _mode(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    """Refuses modes beyond the standard one, which work out several answers for one."""
    if fields.mapping(document.get("reasoning")).get("mode") not in (None, *USUAL_MODES):
        yield RefusedField(name="reasoning.mode", path="reasoning.mode", reason=COSTS)


def _objects(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    for name, key in (("prompt", "id"), ("prompt_cache_options", "comparison_response_id")):
        if fields.optional_object(document, name).get(key) is not None:
            yield RefusedField(name=name, path=f"{name}.{key}", reason=FOREIGN)
    for trail, tool in _tools(document):
        yield from refused_fields.refuse_foreign((*trail, *inner) for inner in _names_account_objects(tool))


def _names_account_objects(tool: Any) -> Iterator[Trail]:
    """Yields where a tool names objects that another call has left at the provider: files and containers."""
    if not isinstance(tool, dict):
        return
    if isinstance(tool.get("container"), str):
        yield ("container",)
    for parent, name in OF_ACCOUNT:
        if refused_fields.is_set(fields.mapping(tool.get(parent)).get(name)):
            yield parent, name


def _stored(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    """Refuses items that refer to stored ones."""
    for trail, item in _items(document):
        kind = item.get("type")
        kind = kind.strip().lower() if isinstance(kind, str) else kind
        held = CONTENTS.get(kind) if isinstance(kind, str) else None
        is_empty = held is not None and "id" in item and not any(map(item.get, held))
        if kind == "item_reference" or (kind is None and "role" not in item and "id" in item) or is_empty:
            yield RefusedField(name="item_reference", path=strict_json.path(trail), reason=STORED_ITEM)
