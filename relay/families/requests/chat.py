"""Requests of `chat`: what they ask for, which fields are refused, and the bytes that go upstream."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from relay.families import fields, refused_fields
from relay.families.base import AskedCall, CallPath, RefusedField
from relay.families.refused_fields import AUDIO_INPUT, AUDIO_OUTPUT, COSTS, LONG_CACHE
from relay.families.requests import contents, reading, tools
from relay.families.requests.tables import openai_tools
from relay.families.requests.tables.chat import FIELDS, PRICED_APART
from relay.families.requests.tools import ProviderTool, is_chat_clients
from relay.wire import splicing

ROOTS = ("messages",)
LIMITS = ("max_completion_tokens", "max_tokens")
MOST_CHOICES = 128
ASKED = b'"include_usage":true'
SEARCH, SEARCH_OPTIONS = "web_search", "web_search_options"
USUAL_OUTPUT = ("TEXT", "IMAGE")


def read(document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
    """Reads the call. Raises InvalidRequest."""
    fields.query(path.query, ())
    unknown = [*FIELDS.unknown(document), *_unknown_of_tools(document)]
    is_stream = fields.flag(document, "stream")
    options = fields.optional_object(document, "stream_options")
    limits = {limit for name in LIMITS if (limit := fields.count(document, name))}
    held = contents.find_contents(document, ROOTS)
    run = list(_providers(document))
    return reading.build_call(
        document,
        raw,
        held,
        model=fields.model(document),
        is_stream=is_stream,
        amounts=reading.amounts(_amounts(document, held)),
        tools=tools.limits(run),
        tool_types=tools.types(run),
        predicted_bound=_foretold(document),
        thoughts_bound=_thoughts(document),
        output_limit=reading.smallest(*limits),
        sent_limit=reading.smallest(*limits) if len(limits) > 1 else None,
        choices=fields.count(document, "n", most=MOST_CHOICES) or 1,
        shows_usage=not is_stream or fields.flag(options, "include_usage", "stream_options"),
        refused=[*_refused(document, held), *unknown],
    )


def _refused(document: Mapping[str, Any], held: contents.Contents) -> list[RefusedField]:
    """Returns the fields that pass only where opened."""
    return [
        *refused_fields.find_set(document, PRICED_APART, COSTS),
        *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
        *_more_answers(document),
        *_caches(document),
        *(_refusal(tool) for tool in _providers(document)),
        *_amounts(document, held),
        *refused_fields.refuse_costly(held.costly),
        *refused_fields.refuse_foreign(held.stored),
    ]


def with_limit(raw: bytes, limit: int) -> bytes:
    """Sets this output limit under each limit name in the body, else under the newer name."""
    places = {name: splicing.span(raw, name) for name in LIMITS}
    given = [name for name, place in places.items() if place and raw[slice(*place)] != b"null"]
    for name in given or LIMITS[:1]:
        raw = splicing.with_member(raw, (), name, str(limit).encode())
    return raw


def with_usage(raw: bytes, document: Mapping[str, Any]) -> bytes:
    """Sets the request for usage at the stream's end, keeping other options."""
    if isinstance(document.get("stream_options"), dict):
        return splicing.with_member(raw, ("stream_options",), "include_usage", b"true")
    return splicing.with_member(raw, (), "stream_options", b"{" + ASKED + b"}")


def without_options(raw: bytes) -> bytes:
    """Removes `stream_options`, for an upstream that does not know them."""
    return splicing.without(raw, "stream_options")


def _foretold(document: Mapping[str, Any]) -> int:
    return len(json.dumps(document["prediction"]).encode()) if document.get("prediction") else 0


def _thoughts(document: Mapping[str, Any]) -> int:
    """Returns the thought tokens that some servers add to the answer's limit."""
    budget = document.get("thinking_budget")
    return min(budget, fields.MOST_TOKENS) if isinstance(budget, int) and budget > 0 else 0


def _unknown_of_tools(document: Mapping[str, Any]) -> list[RefusedField]:
    listed = tools.list_tools(document.get("tools"))
    return tools.find_unknown(listed, is_chat_clients, openai_tools.CLIENTS, openai_tools.PROVIDERS)


def _providers(document: Mapping[str, Any]) -> Iterator[ProviderTool]:
    yield from tools.find_provider_tools(tools.list_tools(document.get("tools")), is_chat_clients)
    if refused_fields.is_set(document.get(SEARCH_OPTIONS)):
        yield ProviderTool(kind=SEARCH, trail=(SEARCH_OPTIONS,), limit=1)


def _refusal(tool: ProviderTool) -> RefusedField:
    return tool.refusal(SEARCH_OPTIONS if tool.trail == (SEARCH_OPTIONS,) else "tools")


def _amounts(document: Mapping[str, Any], held: contents.Contents) -> Iterator[RefusedField]:
    """Returns uses of amounts that not every price has, and of output kinds that none has."""
    if refused_fields.is_set(document.get("audio")):
        yield from refused_fields.refuse_unpriced([("audio",)], AUDIO_OUTPUT)
    yield from refused_fields.kinds_of_output(document.get("modalities"), ("modalities",), USUAL_OUTPUT)
    yield from refused_fields.refuse_unpriced(held.sounds, AUDIO_INPUT)
    own = contents.long_caches(document, tools.list_tools(document.get("tools")))
    yield from refused_fields.refuse_unpriced([*own, *held.long_caches], LONG_CACHE)


def _more_answers(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    """Refuses `best_of`, which makes more answers than it returns."""
    wanted = document.get("n") if isinstance(document.get("n"), int) else 1
    if document.get("best_of") not in (None, 0, 1, wanted):
        yield RefusedField(name="best_of", path="best_of", reason="makes more answers than n")


def _caches(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    google = fields.mapping(fields.mapping(document.get("extra_body")).get("google"))
    if refused_fields.is_set(google.get("cached_content")):
        yield from refused_fields.refuse_foreign([("extra_body", "google", "cached_content")])
    yield from refused_fields.cache_options(document)
