"""Anthropic's messages: cache tokens, cumulative usage, and an end that always says so."""

import json

import pytest

from adapters.base import ErrorKind
from common.errors import InvalidRequest, UpstreamUnknown
from common.token_usage import TokenUsage
from relay.families.base import AskedCall, CallPath, Endpoint
from relay.families.registry import MESSAGES
from relay.wire import sse
from tests.relay.families.asking import SOMEWHERE, asked_of, event, taken
from tests.relay.families.requests.asking import refused_of

PATH = "/v1/messages"
SAID = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]}
START = event(
    {
        "type": "message_start",
        "message": {
            "model": "up",
            "content": [],
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1},
        },
    },
    "message_start",
)
STOP = event({"type": "message_stop"}, "message_stop")


def asked(**more) -> AskedCall:
    return asked_of(PATH, {**SAID, **more})[1]


def delta(**said) -> bytes:
    return event({"type": "content_block_delta", "index": 0, "delta": said}, "content_block_delta")


def ended(**usage) -> bytes:
    return event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}, "message_delta")


def test_the_bill_depends_on_the_limit_and_counting_is_free():
    call = asked(stream=True)
    assert (call.model, call.is_stream, call.output_limit, call.is_free) == ("m", True, 50, False)
    family, counted = asked_of(f"{PATH}/count_tokens", {**SAID, "stream": True})
    assert family is MESSAGES
    assert (counted.is_free, counted.is_stream) == (True, False)
    with pytest.raises(InvalidRequest):
        asked(max_tokens=-1)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"mcp_servers": [{}]}, "mcp_servers"),
        ({"container": "c"}, "container"),
        ({"fallbacks": "default"}, "fallbacks"),
        ({"speed": "fast"}, "speed"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"inference_geo": "us"}, "inference_geo"),
        ({"tools": [{"name": "f"}, {"type": "web_search_20260318"}]}, "tools[1]"),
        ({"tools": ["x"]}, "tools[0]"),
        ({"tools": [{"type": []}]}, "tools[0]"),
        (
            {"messages": [{"content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}]}]},
            "messages[0].content[0].source.file_id",
        ),
    ],
)
def test_what_costs_more_or_is_anothers_is_listed(fields, path):
    assert [field.path for field in refused_of(MESSAGES, {**SAID, **fields}, SOMEWHERE)] == [path]


def test_client_tools_and_what_they_are_asked_are_not_listed():
    tools = [{"type": "custom"}, {"type": "bash_20250124"}, {"type": "computer_20251124"}, {"type": "memory_20250818"}]
    use = {"type": "tool_use", "name": "f", "input": {"file_id": "1"}}
    usual = {"tools": tools, "messages": [{"content": [use]}], "service_tier": "standard_only", "mcp_servers": []}
    assert refused_of(MESSAGES, {**SAID, **usual}, SOMEWHERE) == []


def test_addresses_versions_and_credentials():
    endpoint = Endpoint(
        platform="anthropic", base_url="https://a.example/", credentials={"api_key": "k"}, upstream_model="m"
    )
    path = CallPath(path=f"{PATH}/count_tokens", query="beta=true")
    assert MESSAGES.url(endpoint, path, asked()) == "https://a.example/v1/messages/count_tokens?beta=true"
    sent = MESSAGES.headers(endpoint, {"anthropic-beta": "b", "x-api-key": "mine"})
    assert (sent["x-api-key"], sent["anthropic-version"], sent["anthropic-beta"]) == ("k", "2023-06-01", "b")
    assert "Authorization" not in sent
    other = Endpoint(
        platform="openai", base_url="https://a.example/api/v3", credentials={"api_key": "k"}, upstream_model="m"
    )
    assert MESSAGES.url(other, CallPath(path=PATH), asked()) == "https://a.example/api/v1/messages"
    sent = MESSAGES.headers(other, {"anthropic-version": "2026-10-21"})
    assert (sent["Authorization"], sent["x-api-key"], sent["anthropic-version"]) == ("Bearer k", "k", "2026-10-21")
    for query in ("other=1", "beta=true&other=1", "beta=no"):
        with pytest.raises(InvalidRequest):
            asked_of(PATH, SAID, query)


def test_cache_tokens_and_compactions_count_beside_the_input():
    told = {
        "input_tokens": 10,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 3},
        "iterations": [
            {"type": "message", "input_tokens": 10},
            {"type": "compaction", "input_tokens": 4, "output_tokens": 2},
        ],
    }
    assert MESSAGES.usage({"usage": told}, asked()) == TokenUsage(
        input_tokens=134, cached_tokens=100, cache_write_tokens=20, output_tokens=9, reasoning_tokens=3
    )


def test_later_usage_overrides_and_a_zero_does_not():
    reader = MESSAGES.stream(asked(stream=True), "m")
    taken(reader, START)
    assert reader.usage == TokenUsage(input_tokens=15, cached_tokens=5)
    taken(reader, ended(output_tokens=30, input_tokens=0, cache_read_input_tokens=None))
    assert reader.usage == TokenUsage(input_tokens=15, cached_tokens=5, output_tokens=30)
    taken(reader, ended(output_tokens=40, input_tokens=12))
    assert reader.usage == TokenUsage(input_tokens=17, cached_tokens=5, output_tokens=40)
    taken(reader, ended(output_tokens=-1))
    assert reader.usage.output_tokens == 40


def test_a_stream_passes_unchanged_and_ends_with_its_stop_only():
    reader = MESSAGES.stream(asked(stream=True), "m")
    frames = [
        START,
        delta(type="text_delta", text="hé"),
        delta(type="input_json_delta", partial_json='{"a'),
        ended(output_tokens=3),
    ]
    assert taken(reader, *frames) == frames
    assert (reader.delivered.output_bytes, reader.can_end, reader.is_over) == (6, False, False)
    assert taken(reader, STOP) == [STOP]
    assert (reader.can_end, reader.is_over) == (True, True)


def test_what_a_model_says_is_no_sign():
    reader = MESSAGES.stream(asked(stream=True), "m")
    block = {"input": {"type": "message_stop", "usage": {"input_tokens": 9}}}
    start = event({"type": "content_block_start", "content_block": block}, "content_block_start")
    said = delta(type="text_delta", text='{"type":"message_stop"}')
    assert taken(reader, start, said) == [start, said]
    assert (reader.usage, reader.is_over) == (None, False)


def test_the_clients_name_stands_in_the_message():
    assert taken(MESSAGES.stream(asked(), "up"), START) == [START.replace(b'"up"', b'"m"')]
    answer = b'{"content":[{"type":"tool_use","input":{"model":"up"}}], "model":"up"}'
    assert MESSAGES.shown(answer, asked(), "up") == answer[:-5] + b'"m"}'
    assert MESSAGES.delivered(json.loads(answer), asked()).output_bytes == len("modelup")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"type": "overloaded_error", "message": "x"}, ErrorKind.OVERLOADED),
        ({"type": "rate_limit_error", "message": "x"}, ErrorKind.RATE_LIMITED),
        ({"type": "invalid_request_error", "message": "Your credit balance is too low"}, ErrorKind.QUOTA_EXHAUSTED),
        ({"type": "api_error", "message": "x"}, ErrorKind.AMBIGUOUS),
    ],
)
def test_an_error_is_classified_in_a_frame_and_in_an_answer(said, kind):
    reader = MESSAGES.stream(asked(stream=True), "m")
    document = {"type": "error", "error": said}
    assert taken(reader, event(document, "error"), STOP) == [b"", b""]
    assert (reader.error.kind, reader.can_end) == (kind, False)
    status = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500}.get(said["type"], 400)
    assert MESSAGES.refusal(status, {}, json.dumps(document).encode()).kind is kind


def test_a_cut_stream_ends_in_an_error_event():
    frame = MESSAGES.error_frame(UpstreamUnknown())
    assert frame.startswith(b"event: error\ndata: ")
    assert json.loads(sse.data(frame))["error"]["type"] == "api_error"
