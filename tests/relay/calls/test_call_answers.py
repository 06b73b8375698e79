"""What counts as an answer, however it comes: a 200 that says nothing, a whole one to a stream, other media types."""

import json

import pytest

from common.http.spool import spool
from tests.relay.calling import TEXT_STREAM, Relay, chat, completion, delta, last_delta, row, used
from tests.relay.upstreams import LAST_CHUNK, STREAM, Behaviour, Talk, Upstream, answers, chunk, head, streams

pytestmark = pytest.mark.django_db(transaction=True)
PICTURES = {"prices": {}, "image_prices": {"img": 0.04}}
IMAGE = {"model": "img", "prompt": "a fox"}


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


def good(*, is_stream: bool) -> Upstream:
    return Upstream(streams(*TEXT_STREAM) if is_stream else answers(completion()))


def events(*documents, content_type: str = "text/event-stream") -> Behaviour:
    """A stream under a media type; none where it is empty."""

    async def behave(talk: Talk) -> None:
        named = {"content_type": content_type} if content_type else {}
        await talk.say(head(transfer_encoding="chunked", **named))
        for document in documents:
            await talk.event(document)
        await talk.say(LAST_CHUNK)

    return behave


ZEROS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        {"code": 429, "msg": "too many requests", "success": False},
        {"error": "slow down", "status": 429},
        {"error": {"message": "slow down", "code": 429}},
        {"choices": None, "usage": ZEROS, "error": {"code": "rate_limit_exceeded", "message": "x"}},
    ],
)
def test_a_200_that_says_it_bought_nothing_goes_on_to_the_next_channel(relay, body, is_stream) -> None:
    relay.channel(first := Upstream(answers(body)))
    relay.channel(good(is_stream=is_stream))
    client = relay.call(chat(stream=is_stream))
    assert (client.status, len(first.requests), relay.spent) == (200, 1, 280)
    assert [attempt["kind"] for attempt in row().attempts] == ["rate_limited", "answered"]


NO_ANSWERS = {
    "nothing": answers({}),
    "no choices": answers({"choices": None, "usage": ZEROS}),
    "choices that are none": answers({"choices": {}}),
    "a failure without a code": answers({"success": False, "msg": "no"}),
    "an error without a code": answers({"error": "no"}),
    "a status of 500": answers({"code": 500, "msg": "no"}),
    "a list": answers([1]),
    "a page": answers(b"<html>", content_type="text/html"),
    "no bytes": answers(b""),
    "half of it": answers(b'{"choices": [{"message"'),
}


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("behave", NO_ANSWERS.values(), ids=NO_ANSWERS.keys())
def test_any_other_200_that_is_no_answer_is_502_and_costs_nothing(relay, behave, is_stream) -> None:
    relay.channel(Upstream(behave))
    relay.channel(second := good(is_stream=is_stream))
    client = relay.call(chat(stream=is_stream))
    assert (client.status, client.headers["x-should-retry"], second.requests) == (502, "false", [])
    assert (relay.spent, row().state, row().is_loss) == (0, "released", True)


@pytest.mark.parametrize("frames", [["[DONE]"], [{"choices": None}, "[DONE]"], [{"code": 500, "msg": "x"}, "[DONE]"]])
def test_a_stream_without_an_answer_costs_nothing(relay, frames) -> None:
    relay.channel(Upstream(streams(*frames)))
    client = relay.call(chat(stream=True))
    assert (b'"error"' in client.body, b"[DONE]" in client.body) == (True, False)
    assert (relay.spent, row().state, row().is_loss) == (0, "released", True)


def test_a_stream_that_begins_with_a_failure_goes_on_to_the_next_channel(relay) -> None:
    relay.channel(Upstream(streams({"code": 429, "msg": "busy", "success": False})))
    relay.channel(good(is_stream=True))
    client = relay.call(chat(stream=True))
    assert (client.status, b"busy" in client.body, relay.spent) == (200, False, 280)


def test_counted_tokens_are_an_answer_and_a_failure_is_none(account) -> None:
    relay = Relay(account, "anthropic")
    relay.channel(Upstream(answers({"input_tokens": 7}), answers({"success": False})))
    body = {"model": "gpt-5", "messages": []}
    assert relay.call(body, path="/v1/messages/count_tokens").status == 200
    assert relay.call(body, path="/v1/messages/count_tokens").status == 502


@pytest.mark.parametrize(("asked", "usage_shown"), [({}, False), ({"stream_options": {"include_usage": True}}, True)])
@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "text/event-stream"])
def test_a_whole_answer_to_a_stream_is_handed_on_as_a_stream(relay, media_type, asked, usage_shown) -> None:
    body = json.dumps(completion(), indent=1).encode()
    relay.channel(Upstream(answers(b"\r\n " + body, content_type=media_type)))
    client = relay.call(chat(stream=True, **asked))
    assert (client.status, client.headers["content-type"], client.has_end) == (200, "text/event-stream", True)
    *frames, done, rest = client.body.split(b"\n\n")
    chunks = [json.loads(frame.removeprefix(b"data: ")) for frame in frames]
    assert (done, rest) == (b"data: [DONE]", b"")
    assert {each["object"] for each in chunks} == {"chat.completion.chunk"}
    assert [choice["delta"].get("content") for each in chunks for choice in each["choices"]] == ["Hi.", None]
    assert any(each.get("usage") for each in chunks) is usage_shown
    assert (row().outcome, relay.spent, row().is_estimated) == ("succeeded", 280, False)


def test_a_whole_answer_to_a_stream_has_the_clients_name_of_the_model(relay) -> None:
    relay.channel(Upstream(answers(completion(model="up/gpt"))), upstream_models={"gpt-5": "up/gpt"})
    client = relay.call(chat(stream=True))
    assert (b"up/gpt" in client.body, b'"model": "gpt-5"' in client.body) == (False, True)


def test_a_whole_answer_of_google_is_one_element_of_the_clients_array(account) -> None:
    relay = Relay(account, "gemini")
    counts = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    answer = {
        "candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}],
        "usageMetadata": counts,
    }
    relay.channel(Upstream(answers(answer), answers([answer])))
    for _ in range(2):
        client = relay.call({"contents": []}, path="/v1beta/models/gpt-5:streamGenerateContent")
        [element] = json.loads(client.body)
        assert element["candidates"] == answer["candidates"]
    assert relay.spent == 560


def test_a_large_whole_answer_to_a_stream_passes(relay) -> None:
    text = "word " * 300_000
    choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
    relay.channel(Upstream(answers(completion(choices=choices))))
    client = relay.call(chat(stream=True))
    assert (len(client.body) > len(text), client.body.endswith(b"data: [DONE]\n\n"), relay.spent) == (True, True, 280)
    assert (spool.held, spool.beyond) == ({}, {})


@pytest.mark.parametrize(
    "media_type", ["text/plain; charset=utf-8", "application/octet-stream", "application/json", ""]
)
def test_events_under_any_media_type_are_a_stream(relay, media_type) -> None:
    relay.channel(Upstream(events(*TEXT_STREAM, content_type=media_type)))
    client = relay.call(chat(stream=True))
    assert (client.status, client.headers["content-type"]) == (200, "text/event-stream")
    assert (client.body.endswith(b"data: [DONE]\n\n"), relay.spent) == (True, 280)


@pytest.mark.parametrize("begin", [b"\n\r\n: hello\n\n", b"\xef\xbb\xbf", b"event: x\n", b"id: 7\n", b"retry: 5\n\n"])
def test_events_are_known_by_how_they_begin_even_byte_by_byte(relay, begin) -> None:
    async def dribbles(talk: Talk) -> None:
        await talk.say(head(content_type="text/plain", transfer_encoding="chunked"))
        for byte in begin:
            await talk.say(chunk(bytes([byte])))
        for event in TEXT_STREAM:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    relay.channel(Upstream(dribbles))
    client = relay.call(chat(stream=True))
    assert (client.status, client.body.endswith(b"data: [DONE]\n\n"), relay.spent) == (200, True, 280)


def called(arguments: str, reason: str | None) -> dict:
    tool = {"index": 0, "function": {"name": "f", "arguments": arguments}}
    return delta("", choices=[{"index": 0, "delta": {"tool_calls": [tool]}, "finish_reason": reason}])


def test_a_stream_without_done_is_whole_after_the_reason_and_is_estimated_without_usage(relay) -> None:
    relay.channel(Upstream(streams(delta("Hello there."), last_delta())))
    client = relay.call(chat(stream=True))
    assert (client.has_end, b'"error"' in client.body) == (True, False)
    assert (row().outcome, row().is_estimated, relay.spent > 0) == ("succeeded", True, True)


@pytest.mark.parametrize("documents", [(delta("Hi."), last_delta(), used()), (called("{}", "tool_calls"), used())])
def test_a_connection_that_breaks_after_the_reason_cuts_nothing(relay, documents) -> None:
    async def breaks(talk: Talk) -> None:
        await talk.say(STREAM)
        for document in documents:
            await talk.event(document)
        talk.writer.close()

    relay.channel(Upstream(breaks))
    client = relay.call(chat(stream=True))
    assert (b'"error"' in client.body, client.has_end, row().outcome, relay.spent) == (False, True, "succeeded", 280)


def test_the_usage_after_the_reason_is_waited_for(relay) -> None:
    relay.channel(Upstream(streams(delta("Hello there."), last_delta(), used())))
    relay.call(chat(stream=True))
    assert (row().is_estimated, relay.spent) == (False, 280)


TEXT = "word " * 400  # 500 tokens, likely


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize(
    "told", [{}, {"usage": None}, {"usage": {"output_tokens": 0}}, {"usage": {"output_tokens": None}}]
)
def test_the_output_that_begins_a_message_is_none_that_was_told(account, told, is_cut) -> None:
    relay = Relay(account, "anthropic")
    start = {"model": "gpt-5", "usage": {"input_tokens": 10, "output_tokens": 1}}
    said = (
        {"type": "message_start", "message": start},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
    )
    last = ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, **told}, {"type": "message_stop"})
    relay.channel(Upstream(streams(*said, *(() if is_cut else last))))
    asked = {"model": "gpt-5", "max_tokens": 1000, "messages": [{"role": "user", "content": "Hello"}], "stream": True}
    relay.call(asked, path="/v1/messages")
    assert (relay.spent, row().output_tokens, row().flags) == (10 * 2 + 500 * 8, 500, {"usage_completed": ["output"]})


@pytest.mark.parametrize("digits", [10, 18, 30, 5_000])
@pytest.mark.parametrize("is_stream", [False, True])
def test_an_enormous_count_costs_the_hold_and_its_client_gets_the_answer(relay, is_stream, digits) -> None:
    usage = json.dumps(used()).replace("100", "9" * digits)
    whole = json.dumps(completion()).replace("100", "9" * digits).encode()
    events = (json.dumps(delta("Hello there.")), json.dumps(last_delta()), usage, "[DONE]")
    relay.channel(Upstream(streams(*events) if is_stream else answers(whole)))
    client = relay.call(chat(stream=is_stream))
    assert (client.status, client.has_end, row().actual_micros) == (200, True, row().estimated_micros)
    assert row().flags == {"usage_exceeds_hold": row().overrun_micros}
    assert row().input_tokens == min(int("9" * min(digits, 13)), 10**12)


@pytest.mark.parametrize("reason", ["", "null", None])
def test_a_cut_inside_a_tools_arguments_is_a_cut(relay, reason) -> None:
    relay.channel(Upstream(streams(called('{"a"', reason), called(": ", reason), used())))
    client = relay.call(chat(stream=True))
    assert (b'"error"' in client.body, row().outcome) == (True, "cut")


@pytest.mark.parametrize(
    ("items", "asked_for", "spent"),
    [
        ([{"b64_json": "AA"}, None, {"b64_json": None, "url": None}], 1, 40_000),
        ([{"b64_json": "AA"}] * 9, 1, 40_000),
        ([{"url": "https://x.example/1"}] * 2, 3, 80_000),
    ],
)
@pytest.mark.parametrize("is_stream", [False, True])
def test_pictures_that_are_there_are_paid_by_the_piece(account, items, asked_for, spent, is_stream) -> None:
    relay = Relay(account, **PICTURES)
    relay.channel(Upstream(answers({"created": 1, "data": items})))
    client = relay.call({**IMAGE, "n": asked_for, "stream": is_stream}, path="/v1/images/generations")
    assert (client.status, client.has_end, relay.spent) == (200, True, spent)


PICTURED = [{"text": "A fox."}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]
DETAILS = [
    None,
    [],
    [{"modality": "IMAGE", "tokenCount": 0}],
    [{"modality": "TEXT", "tokenCount": 2}],
    [{"modality": "MODALITY_UNSPECIFIED", "tokenCount": 800}],
]


@pytest.mark.parametrize("details", DETAILS)
@pytest.mark.parametrize("is_stream", [False, True])
def test_pictures_whose_tokens_are_not_told_apart_are_paid_as_pictures(account, details, is_stream) -> None:
    prices = {"*": {"input": 2, "output": 8, "image_output": 40, "max_output_tokens": 1000}}
    relay = Relay(account, "gemini", prices=prices)
    told = {"promptTokenCount": 100, "candidatesTokenCount": 800, "candidatesTokensDetails": details}
    whole = {"candidates": [{"content": {"parts": PICTURED}, "finishReason": "STOP"}], "usageMetadata": told}
    relay.channel(Upstream(streams(json.dumps(whole)) if is_stream else answers(whole)))
    verb = "streamGenerateContent?alt=sse" if is_stream else "generateContent"
    relay.call({"contents": [{"parts": [{"text": "Hello"}]}]}, path=f"/v1beta/models/gpt-5:{verb}")
    assert (relay.spent, row().flags) == (200 + 2 * 8 + 798 * 40, {"usage_completed": ["pictures"]})


IMAGE_URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
MADE = {"type": "image_generation_call", "status": "completed", "result": "iVBORw0KGgo="}
WORDS = {"type": "message", "content": [{"type": "output_text", "text": "A fox."}]}
OF_CHAT = {"prompt_tokens": 100, "completion_tokens": 800}


@pytest.mark.parametrize(
    ("path", "asked", "answer"),
    [
        (
            "/v1/chat/completions",
            chat(),
            {"choices": [{"message": {"content": "A fox.", "images": [IMAGE_URL]}}], "usage": OF_CHAT},
        ),
        (
            "/v1/responses",
            {"model": "gpt-5", "input": "Hello"},
            {"output": [WORDS, MADE], "usage": {"input_tokens": 100, "output_tokens": 800}},
        ),
    ],
)
def test_pictures_of_other_dialects_are_paid_as_pictures_too(account, path, asked, answer) -> None:
    relay = Relay(account, prices={"*": {"input": 2, "output": 8, "image_output": 40, "max_output_tokens": 1000}})
    relay.channel(Upstream(answers(answer)))
    relay.call(asked, path=path)
    assert (relay.spent, row().flags) == (200 + 2 * 8 + 798 * 40, {"usage_completed": ["pictures"]})
