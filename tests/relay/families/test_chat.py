"""OpenAI's chat completions: what is asked for, what is told, and where a stream ends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import ErrorKind, UpstreamError
from common.errors import InvalidRequest, UnsupportedMediaType, UpstreamUnknown
from common.token_usage import TokenUsage
from relay.families.base import AskedCall, CallPath, Endpoint
from relay.families.registry import CHAT
from relay.wire import sse
from tests.relay.families.asking import SOMEWHERE, asked_of, event, taken
from tests.relay.families.requests.asking import refused_of

PATH = "/v1/chat/completions"
SAID = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
TOLD = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
    "completion_tokens_details": {"reasoning_tokens": 5, "image_tokens": None},
}
USED = TokenUsage(input_tokens=100, cached_tokens=60, cache_write_tokens=10, output_tokens=20, reasoning_tokens=5)


def asked(**fields) -> AskedCall:
    return asked_of(PATH, {**SAID, **fields})[1]


def chunk(content: str | None = None, **fields) -> bytes:
    delta = {} if content is None else {"content": content}
    return event({"id": "c", "model": "up", "choices": [{"index": 0, "delta": delta, **fields}], "usage": None})


END, USAGE, DONE = (
    chunk(finish_reason="stop"),
    event({"model": "up", "choices": [], "usage": TOLD}),
    b"data: [DONE]\n\n",
)


def test_the_bill_depends_on_limits_choices_and_bytes():
    call = asked(max_tokens=10, n=3, stream=None)
    assert (call.model, call.is_stream, call.output_limit, call.choices) == ("m", False, 10, 3)
    assert call.input_bound == len(json.dumps({**SAID, "max_tokens": 10, "n": 3, "stream": None}))
    assert call.input_estimate == -(-call.input_bound // 4)
    assert asked().output_limit is None


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"model": ["m"]}, "model"),
        ({"model": "a\n"}, "model"),
        ({"stream": 1}, "stream"),
        ({"n": 0}, "n"),
        ({"n": True}, "n"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"max_completion_tokens": -1}, "max_completion_tokens"),
        ({"stream_options": "x"}, "stream_options"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
    ],
)
def test_a_field_that_the_bill_depends_on_is_refused_by_name(fields, param):
    with pytest.raises(InvalidRequest) as refused:
        asked(**fields)
    assert refused.value.param == param


def test_a_query_and_another_media_type_are_refused():
    with pytest.raises(InvalidRequest):
        asked_of(PATH, SAID, "api-version=1")
    with pytest.raises(UnsupportedMediaType):
        CHAT.document(b"{}", CallPath(path=PATH, content_type="text/plain"))


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"web_search_options": {"search_context_size": "low"}}, "web_search_options"),
        ({"models": ["dear"]}, "models"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"service_tier": {}}, "service_tier"),
        ({"tools": [{"type": "function"}, {"type": "web_search"}]}, "tools[1]"),
        ({"tools": [[]]}, "tools[0]"),
        (
            {"messages": [{"content": [{"type": "file", "file": {"file_id": "f"}}]}]},
            "messages[0].content[0].file.file_id",
        ),
    ],
)
def test_what_costs_more_or_is_anothers_is_listed(fields, path):
    assert [field.path for field in refused_of(CHAT, {**SAID, **fields}, SOMEWHERE)] == [path]


def test_usual_fields_are_not_listed():
    usual = {
        "service_tier": "flex",
        "store": True,
        "modalities": ["text"],
        "models": None,
        "tools": [{"type": "custom"}],
    }
    assert refused_of(CHAT, {**SAID, **usual}, SOMEWHERE) == []
    for odd in (5, "x", {"a": 1}, [None]):
        refused_of(CHAT, {"model": "m", **dict.fromkeys(["modalities", "messages"], odd)}, SOMEWHERE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"model":"m"}', '{"stream_options":{"include_usage":true},"model":"m"}'),
        ('{ "stream_options" : null,"model":"m"}', '{ "stream_options" : {"include_usage":true},"model":"m"}'),
        ('{"stream_options":{ }}', '{"stream_options":{"include_usage":true }}'),
        ('{"stream_options":{"a":"}"}}', '{"stream_options":{"include_usage":true,"a":"}"}}'),
        ('{"stream_options":{"include_usage" : false}}', '{"stream_options":{"include_usage" : true}}'),
        ('{"stream_options":{"include_usage":null,"a":1}}', '{"stream_options":{"include_usage":true,"a":1}}'),
    ],
)
def test_a_stream_is_always_asked_for_its_usage(before, after):
    call = AskedCall(model="m", is_stream=True, shows_usage=False, input_bound=1, input_estimate=1)
    assert CHAT.body(json.loads(before), before.encode(), call, "m") == after.encode()


def test_a_body_that_needs_nothing_is_the_same_bytes():
    raw = b'{ "model":"m","stream_options":{"include_usage":true},"stream":true,"x":{"model":"m"} }'
    call = AskedCall(model="m", is_stream=True, input_bound=1, input_estimate=1)
    assert CHAT.body(json.loads(raw), raw, call, "m") is raw
    assert CHAT.body(json.loads(raw), raw, call, "up/\u00fc") == raw.replace(b'"m"', b'"up/\\u00fc"', 1)


def test_addresses_and_credentials_follow_the_channels_platform():
    path = CallPath(path=PATH)
    keys = {"api_key": "k"}
    for platform, base, url in (
        ("openai", "https://a.example/api/v3/", "https://a.example/api/v3/chat/completions"),
        ("anthropic", "https://a.example", "https://a.example/v1/chat/completions"),
    ):
        endpoint = Endpoint(platform=platform, base_url=base, credentials=keys, upstream_model="m")
        assert CHAT.url(endpoint, path, asked()) == url
        client = {"content-type": "application/json", "cookie": "c", "authorization": "mine", "accept-encoding": "br"}
        sent = CHAT.headers(endpoint, client)
        assert ("x-api-key" in sent) == (platform == "anthropic")
        assert (sent["Authorization"], "accept-encoding" in sent, "cookie" in sent) == ("Bearer k", False, False)
    with pytest.raises(UpstreamError):
        CHAT.headers(Endpoint(platform="openai", base_url="", credentials={"api_key": "a\n"}, upstream_model="m"), {})


def test_a_whole_answer_tells_its_usage():
    assert CHAT.usage({"usage": TOLD}, asked()) == USED


@pytest.mark.parametrize("document", [None, [], {}, {"usage": None}, {"usage": {}}, {"usage": {"prompt_tokens": 0}}])
def test_no_usage_is_none(document):
    assert CHAT.usage(document, asked()) is None


def test_the_texts_of_a_whole_answer_are_counted():
    message = {"content": "é", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}], "refusal": None}
    assert CHAT.delivered({"model": "m", "choices": [{"message": message}]}, asked()).output_bytes == 4


def test_a_stream_passes_unchanged_but_for_the_usage_that_nobody_asked_for():
    reader = CHAT.stream(asked(stream=True), "m")
    assert taken(reader, chunk("hé"), chunk('"\n'), END, USAGE) == [chunk("hé"), chunk('"\n'), END, b""]
    assert (reader.usage, reader.delivered.output_bytes, reader.is_over, reader.can_end) == (USED, 5, False, True)
    assert taken(reader, DONE, chunk("late")) == [DONE, b""]
    assert reader.is_over
    assert reader.can_end


def test_usage_that_was_asked_for_passes():
    reader = CHAT.stream(asked(stream=True, stream_options={"include_usage": True}), "m")
    assert taken(reader, USAGE) == [USAGE]


@pytest.mark.parametrize(
    ("frames", "can_end"),
    [
        ((), False),
        ((chunk("a"),), False),
        ((USAGE,), False),
        ((chunk("a"), DONE), True),
        ((chunk("a"), END), True),
        ((chunk("a", finish_reason=""), chunk("b", finish_reason="null"), chunk("c", finish_reason=None)), False),
    ],
)
def test_a_stream_ends_well_with_done_or_with_the_reason_of_its_choice(frames, can_end):
    reader = CHAT.stream(asked(stream=True), "m")
    taken(reader, *frames)
    assert reader.can_end is can_end


def test_a_stream_of_several_choices_ends_with_the_reason_of_each():
    reader = CHAT.stream(asked(stream=True, n=2), "m")
    taken(reader, END, END)
    assert not reader.can_end
    taken(reader, event({"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}))
    assert reader.can_end


def test_the_usage_that_comes_after_the_reason_is_still_read():
    reader = CHAT.stream(asked(stream=True), "m")
    taken(reader, chunk("a"), END)
    assert not reader.is_over
    taken(reader, USAGE)
    assert (reader.usage, reader.can_end, reader.is_over) == (USED, True, False)


def test_a_stream_that_says_only_that_it_is_done_is_no_answer():
    reader = CHAT.stream(asked(stream=True), "m")
    assert taken(reader, event({"choices": None}), DONE)[1] == b""
    assert (reader.error.kind, reader.can_end) == (ErrorKind.AMBIGUOUS, False)


def test_what_a_model_says_is_no_sign():
    for words in ("data: [DONE]", '"usage":{"prompt_tokens":9}', '"finish_reason":"x"', '{"error":{"code":429}}'):
        reader = CHAT.stream(asked(stream=True), "m")
        assert taken(reader, chunk(words)) == [chunk(words)]
        assert (reader.usage, reader.error, reader.is_over, reader.can_end) == (None, None, False, False)
        assert reader.delivered.output_bytes == len(words)


def test_the_clients_name_stands_in_every_frame():
    reader = CHAT.stream(asked(stream=True), "up")
    assert taken(reader, chunk("x"), DONE) == [chunk("x").replace(b'"up"', b'"m"'), DONE]
    several = b'data: {"model":\r\ndata: "up",\r\ndata: "choices": []}\r\n\r\n'
    assert json.loads(sse.data(CHAT.stream(asked(stream=True), "up").take(several)))["model"] == "m"
    answer = b'{"id": 1, "model" :"up","choices":[{"message":{"content":"\\"model\\":\\"up\\""}}]}'
    assert CHAT.shown(answer, asked(), "up") == answer.replace(b'"up"', b'"m"', 1)
    assert CHAT.shown(answer, asked(model="up"), "up") is answer


def test_a_frame_without_an_event_becomes_a_blank_line():
    reader = CHAT.stream(asked(stream=True), "m")
    assert taken(reader, b"\r\n", b": PROCESSING\n\n", b"event: ping\n\n", b"retry: 1\n\n") == [b"\n"] * 4


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "x", "type": "requests", "code": "rate_limit_exceeded"}, ErrorKind.RATE_LIMITED),
        ({"message": "x", "type": "insufficient_quota", "code": None}, ErrorKind.QUOTA_EXHAUSTED),
        ({"message": "x", "code": "server_is_overloaded"}, ErrorKind.OVERLOADED),
        ({"message": "x", "type": "invalid_request_error"}, ErrorKind.INVALID_REQUEST),
        ({"message": "x", "type": "server_error"}, ErrorKind.AMBIGUOUS),
        ({"message": "x", "code": 503}, ErrorKind.OVERLOADED),
        ({"message": "x", "code": "502"}, ErrorKind.AMBIGUOUS),
        ({}, ErrorKind.AMBIGUOUS),
        ("gone", ErrorKind.AMBIGUOUS),
    ],
)
def test_an_error_among_the_frames_is_classified_and_not_shown(error, kind):
    reader = CHAT.stream(asked(stream=True), "m")
    frame = event({"error": error})
    assert taken(reader, frame) == [b""]
    assert (reader.error.kind, reader.is_over, reader.can_end) == (kind, True, False)


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind"),
    [
        (401, {}, {"error": {"message": "x", "type": "invalid_request_error", "code": None}}, ErrorKind.AUTH),
        (
            400,
            {},
            {"error": {"message": "x", "type": "invalid_request_error", "code": "no"}},
            ErrorKind.INVALID_REQUEST,
        ),
        (429, {"retry-after": "7"}, {"error": {"message": "x"}}, ErrorKind.RATE_LIMITED),
        (503, {}, {"error": {"message": "x"}}, ErrorKind.OVERLOADED),
        (503, {}, "<html>", ErrorKind.AMBIGUOUS),
        (500, {}, {"error": {"message": "x"}}, ErrorKind.AMBIGUOUS),
        (404, {}, {"error": {"message": "x", "code": "model_not_found"}}, ErrorKind.MODEL_UNAVAILABLE),
    ],
)
def test_an_answer_without_success_is_classified_as_a_paid_calls_is(status, headers, body, kind):
    error = CHAT.refusal(status, headers, json.dumps(body).encode())
    assert error.kind is kind
    assert error.retry_after == (7 if headers else None)


def test_an_error_names_the_field_at_fault():
    for named in ({"param": "messages"}, {"details": [{}, {"fieldViolations": [{"field": "messages"}]}]}):
        error = CHAT.refusal(400, {}, json.dumps({"error": {"message": "x", **named}}).encode())
        assert error.param == "messages"
    assert CHAT.refusal(400, {}, b"no").param is None


def test_a_cut_stream_ends_in_a_frame_that_openais_sdk_raises_on():
    frame = CHAT.error_frame(UpstreamUnknown())
    said = json.loads(sse.data(frame))["error"]
    assert said["type"] == "api_error"
    assert "lost" in said["message"]
    assert frame.endswith(b"\n\n")


@given(st.binary(max_size=60) | st.text(alphabet='data:[DONE]{}"usagerro,\n\r', max_size=60).map(str.encode))
def test_no_frame_of_a_hostile_upstream_does_harm(frame):
    reader = CHAT.stream(asked(stream=True), "up")
    reader.take(frame)
    reader.take(b"data: " + frame + b"\n\n")


@pytest.mark.parametrize("before", [b": data: alive\n", b"event: data:\r\n", b": \r"])
def test_an_event_behind_a_line_that_speaks_of_data_keeps_its_place(before):
    reader = CHAT.stream(asked(stream=True), "up")
    assert reader.take(before + b'data: {"choices":[],"model":"up"}\n\n') == (
        before + b'data: {"choices":[],"model":"m"}\n\n'
    )
