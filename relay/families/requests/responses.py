"""Requests of `responses`: what they ask for, what of it is refused, and the bytes that go upstream.

Facts: openai 3.57 (`types/responses`), and what Codex sends beside it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from relay.families import fields, refused_fields
from relay.families.base import TOOL_CALLS, AskedCall, CallPath, RefusedField
from relay.families.refused_fields import AUDIO_INPUT, COSTS, FOREIGN
from relay.families.requests import contents, reading, tools
from relay.families.requests.contents import Contents
from relay.families.requests.known_fields import DialectFields
from relay.families.requests.media import folded
from relay.families.requests.tools import Listed, ProviderTool, is_openai_clients
from relay.wire import splicing

ROOTS = ("input", "instructions", "prompt")
MOST_CALLS = "max_tool_calls"
LISTED_ONLY = "mcp_list_tools"
# Items that hold what they are, unless only their ids are sent: then they stand for stored ones. Names are folded.
CONTENTS: Mapping[Any, tuple[str, ...]] = {
    "reasoning": ("encryptedcontent", "summary", "content"),
    "image_generation_call": ("result",),
}
USUAL_MODES = ("standard",)
ITSELF = 'send the items themselves, with store: false and include: ["reasoning.encrypted_content"]'
STORED_ITEM = f"names an item that is stored with the provider: {ITSELF}"
STORED_RESPONSE = f"names a response that is stored with the provider: {ITSELF}"
GOES_ON = "would go on after this call"
ACCOUNTS = "depends on the operator's account with the provider"
FIELDS = DialectFields(
    "model input instructions stream max_output_tokens max_tool_calls temperature top_p top_logprobs tools tool_choice"
    " parallel_tool_calls include store metadata user safety_identifier truncation service_tier moderation"
    " previous_response_id conversation background background_options access_programs prompt_cache_key"
    " prompt_cache_retention client_metadata frequency_penalty presence_penalty seed stop top_k min_p"
    " repetition_penalty enable_thinking thinking chat_template_kwargs request_id",
    stream_options=DialectFields("include_obfuscation include_usage"),
    reasoning=DialectFields("effort summary generate_summary context mode enabled exclude max_tokens"),
    text=DialectFields("format verbosity"),
    image=DialectFields("context_compression"),
    prompt=DialectFields("id version variables"),
    prompt_cache_options=DialectFields("mode ttl prewarm comparison_response_id"),
    context_management=DialectFields("type compact_threshold"),
)


def read(document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
    """Raises InvalidRequest."""
    fields.query(path.query, ())
    FIELDS.check(document)
    tools.check(_tools(document), tools.OPENAI)
    held = contents.found(document, ROOTS)
    most = fields.count(document, MOST_CALLS, most=tools.MOST_CALLS)
    run = tools.limits(_providers(document))
    return reading.asked(
        document,
        raw,
        held,
        passes=2 if document.get("context_management") else 1,  # one of them makes a summary
        model=fields.model(document),
        is_stream=fields.flag(document, "stream"),
        amounts=frozenset({AUDIO_INPUT} if held.sounds else ()),
        tools=run,
        tool_calls=most or TOOL_CALLS,
        sent_tool_limits=[(MOST_CALLS,)] if run and most is None else (),
        output_limit=fields.count(document, "max_output_tokens"),
        refused=_refused(document, held),
    )


def _refused(document: Mapping[str, Any], held: Contents) -> list[RefusedField]:
    """What passes only where something opens it."""
    return [
        *FIELDS.unknown(document),
        *refused_fields.given(document, ("background", "background_options"), GOES_ON),
        *refused_fields.given(document, ("previous_response_id", "conversation"), STORED_RESPONSE),
        *refused_fields.given(document, ("access_programs",), ACCOUNTS),
        *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
        *_mode(document),
        *refused_fields.cache_options(document),
        *_objects(document),
        *(tool.refusal() for tool in _providers(document)),
        *tools.unknown(_tools(document), tools.OPENAI, is_openai_clients),
        *_items(document.get("input")),
        *refused_fields.unsold(held.sounds, AUDIO_INPUT),
        *refused_fields.costly(held.costly),
        *refused_fields.foreign(held.stored),
    ]


def with_limit(raw: bytes, limit: int) -> bytes:
    """The body with a limit of output that it does not have yet."""
    return splicing.with_member(raw, (), "max_output_tokens", str(limit).encode())


def _tools(document: Mapping[str, Any]) -> Iterator[Listed]:
    """Those of the request, and those that come as items."""
    yield from tools.listed(document.get("tools"))
    listed = document.get("input")
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, dict) and item.get("type") != LISTED_ONLY:
            for name in item:
                if folded(name) == "tools":
                    yield from tools.listed(item[name], ("input", index, name))


def _providers(document: Mapping[str, Any]) -> Iterator[ProviderTool]:
    return tools.providers(_tools(document), is_openai_clients)


def _mode(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    """Several answers are thought out for one, in any mode but the standard one."""
    if fields.mapping(document.get("reasoning")).get("mode") not in (None, *USUAL_MODES):
        yield RefusedField(name="reasoning.mode", path="reasoning.mode", reason=COSTS)


def _objects(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    for name, key in (("prompt", "id"), ("prompt_cache_options", "comparison_response_id")):
        if fields.mapping(document.get(name)).get(key) is not None:
            yield RefusedField(name=name, path=f"{name}.{key}", reason=FOREIGN)


def _items(listed: Any) -> Iterator[RefusedField]:
    """Items that stand for stored ones."""
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        said = {folded(name): value for name, value in fields.mapping(item).items()}
        kind = said.get("type")
        is_empty = kind in CONTENTS and "id" in said and not any(said.get(name) for name in CONTENTS[kind])
        if kind == "item_reference" or (kind is None and "role" not in said and "id" in said) or is_empty:
            yield RefusedField(name="item_reference", path=f"input[{index}]", reason=STORED_ITEM)
