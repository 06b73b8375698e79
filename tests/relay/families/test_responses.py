"""OpenAI's responses: three proper ends, and errors that their SDK does not raise by itself."""

import json

import pytest

from adapters.base import ErrorKind
from common.errors import InvalidRequest, UpstreamUnknown
from common.token_usage import TokenUsage
from relay.families.base import AskedCall, CallPath, Endpoint
from relay.families.registry import RESPONSES
from relay.wire import sse
from tests.relay.families.asking import SOMEWHERE, asked_of, event, taken
from tests.relay.families.requests.asking import refused_of

PATH = "/v1/responses"
SAID = {"model": "m", "input": "hi"}
TOLD = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 120,
}
USED = TokenUsage(input_tokens=100, cached_tokens=60, cache_write_tokens=10, output_tokens=20, reasoning_tokens=5)


def asked(**more) -> AskedCall:
    return asked_of(PATH, {**SAID, **more})[1]


def said(kind: str, **fields) -> bytes:
    return event({"type": kind, **fields}, kind)


CREATED = said("response.created", response={"model": "up", "error": None, "usage": None, "tools": [{"model": "up"}]})


def test_the_bill_depends_on_the_limit():
    call = asked(stream=True, max_output_tokens=9)
    assert (call.model, call.is_stream, call.output_limit) == ("m", True, 9)
    with pytest.raises(InvalidRequest):
        asked(max_output_tokens="9")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"background": True}, "background"),
        ({"previous_response_id": "r"}, "previous_response_id"),
        ({"conversation": {"id": "c"}}, "conversation"),
        ({"prompt": {"id": "p"}}, "prompt.id"),
        ({"prompt_cache_options": {"comparison_response_id": "r"}}, "prompt_cache_options.comparison_response_id"),
        ({"service_tier": "ultrafast"}, "service_tier"),
        ({"tools": [{"type": "function"}, {"type": "image_generation"}]}, "tools[1]"),
        ({"tools": [{"type": {}}]}, "tools[0]"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]},
            "input[0].content[0].file_id",
        ),
        ({"input": [{"type": "item_reference", "id": "i"}]}, "input[0]"),
        ({"input": [{"id": "i"}]}, "input[0]"),
        ({"input": [{"type": "additional_tools", "tools": [{"type": "web_search"}]}]}, "input[0].tools[0]"),
    ],
)
def test_what_costs_more_or_is_anothers_is_listed(fields, path):
    assert [field.path for field in refused_of(RESPONSES, {**SAID, **fields}, SOMEWHERE)] == [path]


def test_usual_fields_are_not_listed():
    items = [{"role": "user", "content": "x", "id": "m"}, {"type": "mcp_list_tools", "tools": [{"name": "x"}]}, "x"]
    assert (
        refused_of(RESPONSES, {**SAID, "background": False, "store": True, "prompt": None, "input": items}, SOMEWHERE)
        == []
    )


def test_addresses_stand_behind_the_version():
    endpoint = Endpoint(
        platform="openai", base_url="https://a.example/v1", credentials={"api_key": "k"}, upstream_model="m"
    )
    assert RESPONSES.url(endpoint, CallPath(path=PATH), asked()) == "https://a.example/v1/responses"


@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete", "response.failed"])
def test_a_stream_ends_with_one_of_three_events_which_tells_the_usage(kind):
    reader = RESPONSES.stream(asked(stream=True), "m")
    delta = said("response.output_text.delta", delta='é"', obfuscation="xxxx")
    done = said("response.output_text.done", text='é"')
    assert taken(reader, CREATED, delta, done) == [CREATED, delta, done]
    assert (reader.delivered.output_bytes, reader.can_end, reader.is_over, reader.usage) == (3, False, False, None)
    last = said(kind, response={"usage": TOLD, "error": {"code": "server_error", "message": "x"}})
    assert taken(reader, last, CREATED) == [last, b""]
    assert (reader.usage, reader.can_end, reader.is_over, reader.error) == (USED, True, True, None)


def test_what_a_client_makes_it_echo_is_no_end():
    reader = RESPONSES.stream(asked(stream=True), "m")
    echo = said("response.created", response={"tools": [{"parameters": {"type": "response.completed"}}], "usage": TOLD})
    assert taken(reader, echo) == [echo]
    assert (reader.is_over, reader.usage) == (False, None)


def test_the_clients_name_stands_in_the_response():
    reader = RESPONSES.stream(asked(stream=True), "up")
    assert taken(reader, CREATED) == [CREATED.replace(b'"up"', b'"m"', 1)]
    answer = json.dumps(
        {"tools": [{"model": "up"}], "model": "up", "output": [{"content": [{"text": "ab"}]}], "prompt": {"text": "c"}}
    )
    assert json.loads(RESPONSES.shown(answer.encode(), asked(), "up"))["model"] == "m"
    assert RESPONSES.delivered(json.loads(answer), asked()).output_bytes == 2
    assert RESPONSES.usage({"usage": TOLD}, asked()) == USED


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (said("error", code="rate_limit_exceeded", message="x", param=None), ErrorKind.RATE_LIMITED),
        (said("error", error={"type": "server_error", "message": "x"}), ErrorKind.AMBIGUOUS),
        (event({"error": {"code": "insufficient_quota", "message": "x"}}), ErrorKind.QUOTA_EXHAUSTED),
        (said("response.failed", response={"error": {"code": "rate_limit_exceeded"}}), ErrorKind.RATE_LIMITED),
    ],
)
def test_an_error_first_is_classified_and_not_shown(frame, kind):
    reader = RESPONSES.stream(asked(stream=True), "m")
    assert taken(reader, b"\n", frame) == [b"\n", b""]
    assert (reader.error.kind, reader.is_over, reader.can_end) == (kind, True, False)


def test_a_cut_stream_ends_in_an_event_with_an_error_of_its_own():
    frame = RESPONSES.error_frame(UpstreamUnknown())
    document = json.loads(sse.data(frame))
    assert frame.startswith(b"event: error\n")
    assert document["type"] == "error"
    assert document["error"]["message"] == document["message"] == UpstreamUnknown().message
