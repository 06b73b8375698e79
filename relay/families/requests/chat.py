"""Requests of `chat`: what they ask for, what of it is refused, and the bytes that go upstream.

Beside OpenAI's fields (openai 3.57, `types/chat`) those pass that servers of the same dialect have for sampling,
formats, thoughts and templates: they change what is said, not what it costs.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from relay.families import fields, refused_fields
from relay.families.base import AskedCall, CallPath, RefusedField
from relay.families.refused_fields import AUDIO_INPUT, AUDIO_OUTPUT, COSTS, LONG_CACHE
from relay.families.requests import contents, reading, tools
from relay.families.requests.known_fields import DialectFields
from relay.families.requests.tools import ProviderTool, is_chat_clients
from relay.wire import splicing

ROOTS = ("messages",)
LIMITS = ("max_completion_tokens", "max_tokens")
MOST_CHOICES = 128
ASKED = b'"include_usage":true'
SEARCH, SEARCH_OPTIONS = "web_search", "web_search_options"
# Searches, plug-ins, and other models than the one that is priced, as OpenAI-compatible providers offer them.
PRICED_APART = (
    "enable_search", "search_options", "search_parameters", "web_search", "plugins", "models", "provider", "preset",
    "route", "transforms",
)  # fmt: skip
FIELDS = DialectFields(
    # OpenAI's.
    "model messages stream max_tokens max_completion_tokens n temperature top_p stop seed logprobs top_logprobs"
    " logit_bias frequency_penalty presence_penalty response_format tools tool_choice parallel_tool_calls functions"
    " function_call reasoning_effort verbosity metadata store user safety_identifier prediction moderation modalities"
    " audio service_tier prompt_cache_key prompt_cache_retention web_search_options"
    # Of other servers: sampling and limits.
    " top_k top_a min_p typical_p tfs repetition_penalty length_penalty no_repeat_ngram_size bad_words min_tokens"
    " random_seed do_sample ignore_eos stop_token_ids include_stop_str_in_output skip_special_tokens"
    " spaces_between_special_tokens truncate_prompt_tokens prompt_logprobs best_of use_beam_search early_stopping"
    # Formats and templates.
    " guided_json guided_regex guided_choice guided_grammar guided_decoding_backend guided_whitespace_pattern"
    " structured_outputs chat_template_kwargs add_generation_prompt continue_final_message add_special_tokens echo"
    " documents regex ebnf return_token_ids return_tokens_as_token_ids allowed_token_ids"
    " safe_prompt safety_settings result_format incremental_output tool_stream vl_high_resolution_images"
    # Thoughts.
    " enable_thinking thinking thinking_budget thinking_config include_reasoning reasoning_format reasoning_split"
    " reasoning_history separate_reasoning stream_reasoning preserve_thinking prompt_mode think"
    # Who asks, and how he is told.
    " request_id user_id session_id client_metadata usage cache_salt" + " " + " ".join(PRICED_APART),
    stream_options=DialectFields("include_usage include_obfuscation continuous_usage_stats chunk_include_usage"),
    reasoning=DialectFields("effort summary generate_summary exclude enabled max_tokens context"),
    cache_control=DialectFields("type ttl"),
    prompt_cache_options=DialectFields("mode ttl"),
    extra_body=DialectFields(
        "", google=DialectFields("thinking_config safety_settings cached_content thought_tag_marker")
    ),
)
USUAL_OUTPUT = ("TEXT", "IMAGE")


def read(document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
    """Raises InvalidRequest."""
    fields.query(path.query, ())
    FIELDS.check(document)
    tools.check(tools.listed(document.get("tools")), tools.OPENAI)
    is_stream = fields.flag(document, "stream")
    options = fields.optional_object(document, "stream_options")
    limits = {limit for name in LIMITS if (limit := fields.count(document, name))}
    held = contents.found(document, ROOTS)
    return reading.asked(
        document,
        raw,
        held,
        model=fields.model(document),
        is_stream=is_stream,
        amounts=reading.amounts(_amounts(document, held)),
        tools=tools.limits(_providers(document)),
        predicted_bound=len(json.dumps(document["prediction"]).encode()) if document.get("prediction") else 0,
        output_limit=reading.smallest(*limits),
        sent_limit=reading.smallest(*limits) if len(limits) > 1 else None,
        choices=fields.count(document, "n", most=MOST_CHOICES) or 1,
        shows_usage=not is_stream or fields.flag(options, "include_usage", "stream_options"),
        refused=_refused(document, held),
    )


def _refused(document: Mapping[str, Any], held: contents.Contents) -> list[RefusedField]:
    """What passes only where something opens it."""
    own = list(tools.listed(document.get("tools")))
    return [
        *FIELDS.unknown(document),
        *refused_fields.given(document, PRICED_APART, COSTS),
        *refused_fields.beyond(document, "service_tier", refused_fields.TIERS),
        *_more_answers(document),
        *_caches(document),
        *(_refusal(tool) for tool in _providers(document)),
        *tools.unknown(own, tools.OPENAI, is_chat_clients),
        *_amounts(document, held),
        *refused_fields.costly(held.costly),
        *refused_fields.foreign(held.stored),
    ]


def with_limit(raw: bytes, limit: int) -> bytes:
    """The body with this limit of output under each name that it has, or under the newer one."""
    places = {name: splicing.span(raw, name) for name in LIMITS}
    given = [name for name, place in places.items() if place and raw[slice(*place)] != b"null"]
    for name in given or LIMITS[:1]:
        raw = splicing.with_member(raw, (), name, str(limit).encode())
    return raw


def with_usage(raw: bytes, document: Mapping[str, Any]) -> bytes:
    """The body that asks for the usage at the stream's end, and else for the same."""
    if isinstance(document.get("stream_options"), dict):
        return splicing.with_member(raw, ("stream_options",), "include_usage", b"true")
    return splicing.with_member(raw, (), "stream_options", b"{" + ASKED + b"}")


def without_options(raw: bytes) -> bytes:
    """The body for an upstream that knows no `stream_options`."""
    return splicing.without(raw, "stream_options")


def _providers(document: Mapping[str, Any]) -> Iterator[ProviderTool]:
    yield from tools.providers(tools.listed(document.get("tools")), is_chat_clients)
    if refused_fields.says(document.get(SEARCH_OPTIONS)):
        yield ProviderTool(name=SEARCH, trail=(SEARCH_OPTIONS,), limit=1)


def _refusal(tool: ProviderTool) -> RefusedField:
    return tool.refusal(SEARCH_OPTIONS if tool.trail == (SEARCH_OPTIONS,) else "tools")


def _amounts(document: Mapping[str, Any], held: contents.Contents) -> Iterator[RefusedField]:
    """What uses amounts that not every price has, and kinds of output that none has."""
    if refused_fields.says(document.get("audio")):
        yield from refused_fields.unsold([("audio",)], AUDIO_OUTPUT)
    yield from refused_fields.kinds_of_output(document.get("modalities"), ("modalities",), USUAL_OUTPUT)
    yield from refused_fields.unsold(held.sounds, AUDIO_INPUT)
    own = contents.long_caches(document, tools.listed(document.get("tools")))
    yield from refused_fields.unsold([*own, *held.long_caches], LONG_CACHE)


def _more_answers(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    """`best_of` makes more answers than it shows."""
    wanted = document.get("n") if isinstance(document.get("n"), int) else 1
    if document.get("best_of") not in (None, 0, 1, wanted):
        yield RefusedField(name="best_of", path="best_of", reason="makes more answers than n says")


def _caches(document: Mapping[str, Any]) -> Iterator[RefusedField]:
    google = fields.mapping(fields.mapping(document.get("extra_body")).get("google"))
    if refused_fields.says(google.get("cached_content")):
        yield from refused_fields.foreign([("extra_body", "google", "cached_content")])
    yield from refused_fields.cache_options(document)
