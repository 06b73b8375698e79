"""Where a stream begins: nothing has, until an event has come that carries something."""

import json

import pytest

from tests.relay.calling import TEXT_STREAM, Client, Relay, chat, completion, delta, row
from tests.relay.upstreams import LAST_CHUNK, STREAM, Talk, Upstream, answers, streams

pytestmark = pytest.mark.django_db(transaction=True)
RESPONSES, MESSAGES = "/v1/responses", "/v1/messages"
GENERATE = "/v1beta/models/gpt-5:generateContent"
GOOGLE_STREAM = "/v1beta/models/gpt-5:streamGenerateContent"
FILTER = {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
ROLE = delta("", choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])
BUSY = {"error": {"message": "busy", "code": "rate_limit_exceeded"}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


@pytest.mark.parametrize("first", [[ROLE], [FILTER], [FILTER, ROLE], ["ping"], [""], ["[]"], [{"type": "ping"}]])
def test_an_error_after_events_that_carry_nothing_goes_on_to_the_next_channel(relay, first) -> None:
    relay.channel(Upstream(streams(*first, BUSY)))
    relay.channel(Upstream(streams(*TEXT_STREAM)))
    client = relay.call(chat(stream=True))
    assert (client.status, client.body.count(b"data: "), relay.spent) == (200, 4, 280)
    assert [attempt["kind"] for attempt in row().attempts] == ["rate_limited", "answered"]


def test_a_ping_before_an_overload_goes_on_to_the_next_channel(account) -> None:
    relay = Relay(account, "anthropic")
    relay.channel(Upstream(streams({"type": "ping"}, OVERLOADED)))
    message = {"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}
    relay.channel(Upstream(answers({**message, "usage": {"input_tokens": 100, "output_tokens": 10}})))
    client = relay.call(chat(stream=True, max_tokens=100), path=MESSAGES)
    assert (client.status, b"message_stop" in client.body, relay.spent) == (200, True, 280)


def test_events_that_were_held_back_come_before_the_first_that_carries_something(relay) -> None:
    relay.channel(Upstream(streams(FILTER, ROLE, *TEXT_STREAM)))
    frames = relay.call(chat(stream=True)).body.split(b"\n\n")
    assert [json.loads(frame.removeprefix(b"data: ")) for frame in frames[:3]] == [FILTER, ROLE, TEXT_STREAM[0]]


def test_events_are_held_back_for_a_moment_only(relay) -> None:
    client = Client()

    async def pauses(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(ROLE)
        await client.kept_waiting()
        for event in TEXT_STREAM:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    relay.channel(Upstream(pauses))
    relay.call(chat(stream=True), client=client)
    assert (client.body.count(b"data: "), relay.spent) == (5, 280)


@pytest.mark.parametrize("first", [[ROLE] * 200, [{**FILTER, "x": "x" * 65536}] * 2])
def test_only_so_much_is_held_back(relay, first) -> None:
    relay.channel(Upstream(streams(*first, BUSY)))
    relay.channel(second := Upstream(streams(*TEXT_STREAM)))
    client = relay.call(chat(stream=True))
    assert (client.status, client.body.count(b"data: "), second.requests) == (200, len(first) + 1, [])
    assert (row().outcome, relay.spent) == ("cut", 0)


def test_a_whole_answer_after_events_that_were_shown_is_a_cut(relay) -> None:
    client = Client()

    async def pauses(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(ROLE)
        await client.kept_waiting()
        await talk.event(completion())
        await talk.say(LAST_CHUNK)

    relay.channel(Upstream(pauses))
    relay.call(chat(stream=True), client=client)
    assert (b'"error"' in client.body, row().outcome, relay.spent) == (True, "cut", 0)


@pytest.mark.parametrize("frames", [[delta("", choices=[])], [FILTER], [ROLE], [{"choices": [{}]}], ["ping"]])
def test_a_stream_that_carries_nothing_is_502_and_costs_nothing(relay, frames) -> None:
    relay.channel(Upstream(streams(*frames, "[DONE]")))
    relay.channel(second := Upstream(streams(*TEXT_STREAM)))
    client = relay.call(chat(stream=True))
    assert (client.status, second.requests) == (502, [])
    assert (relay.spent, row().is_loss) == (0, True)


def test_a_first_event_without_choices_says_nothing(relay) -> None:
    relay.channel(Upstream(streams({"object": "chat.completion.chunk", "choices": None, "usage": None}, *TEXT_STREAM)))
    client = relay.call(chat(stream=True))
    assert (client.status, b"[DONE]" in client.body, relay.spent) == (200, True, 280)


def test_an_error_in_bare_words_is_no_end_of_a_stream(relay) -> None:
    relay.channel(Upstream(streams(delta("Hi."), "Internal Server Error: boom", "[DONE]")))
    client = relay.call(chat(stream=True))
    assert (b"[DONE]" in client.body, b'"error"' in client.body, row().outcome) == (False, True, "cut")


@pytest.mark.parametrize(
    ("first", "status"),
    [
        ({"error_code": 18, "error_msg": "sk-secret"}, 502),
        ({"base_resp": {"status_code": 1000, "status_msg": "sk-secret"}}, 502),
        ({"detail": "sk-secret"}, 502),
        ({"choices": None, "x": "sk-secret"}, 502),
        ({"type": "message_start", "message": {"id": "sk-secret"}}, 502),
    ],
)
def test_a_first_event_in_another_shape_is_a_failure_and_is_not_shown(relay, first, status) -> None:
    relay.channel(Upstream(streams(first, *TEXT_STREAM)))
    client = relay.call(chat(stream=True))
    assert (client.status, b"sk-secret" in client.body, relay.spent) == (status, False, 0)


def test_an_event_in_another_shape_ends_a_stream_that_has_begun(relay) -> None:
    relay.channel(Upstream(streams(delta("Hi."), {"detail": "sk-secret"}, *TEXT_STREAM)))
    client = relay.call(chat(stream=True))
    assert (b"sk-secret" in client.body, b"[DONE]" in client.body, row().outcome) == (False, False, "cut")


@pytest.mark.parametrize(
    ("code", "status", "kind"), [(429, "RESOURCE_EXHAUSTED", "rate_limited"), (503, "UNAVAILABLE", "overloaded")]
)
def test_an_error_in_an_array_of_google_goes_on_to_the_next_channel(account, code, status, kind) -> None:
    relay = Relay(account, "gemini")
    good = {
        "candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
    }
    relay.channel(Upstream(answers([{"error": {"code": code, "message": "x", "status": status}}])))
    relay.channel(Upstream(streams(good)))
    client = relay.call({"contents": []}, path=GOOGLE_STREAM)
    assert (client.status, json.loads(client.body), relay.spent) == (200, [good], 280)
    assert [attempt["kind"] for attempt in row().attempts] == [kind, "answered"]


def test_an_error_behind_a_chunk_in_an_array_of_google_goes_nowhere_else(account) -> None:
    relay = Relay(account, "gemini")
    chunk = {"candidates": [{"content": {"parts": [{"text": "Hi."}]}}]}
    relay.channel(Upstream(answers([chunk, {"error": {"code": 503, "status": "UNAVAILABLE"}}])))
    relay.channel(second := Upstream(streams(chunk)))
    assert relay.call({"contents": []}, path=GOOGLE_STREAM).status == 502
    assert (second.requests, relay.spent) == ([], 0)


@pytest.mark.parametrize("path", [GENERATE, GOOGLE_STREAM])
@pytest.mark.parametrize("is_event", [False, True])
def test_a_blocked_prompt_without_usage_is_answered_and_costs_nothing(account, path, is_event) -> None:
    relay = Relay(account, "gemini")
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    relay.channel(Upstream(streams(blocked) if is_event and path == GOOGLE_STREAM else answers(blocked)))
    client = relay.call({"contents": []}, path=path)
    assert (client.status, b"SAFETY" in client.body, relay.spent) == (200, True, 0)


def ended(kind: str, **response) -> dict:
    return {"type": kind, "response": {"id": "r", "object": "response", "output": [], "usage": None, **response}}


CREATED = ended("response.created", status="in_progress")
TEXT_DELTA = {"type": "response.output_text.delta", "delta": "Hello"}


@pytest.mark.parametrize("between", [[], [TEXT_DELTA]])
@pytest.mark.parametrize(
    ("kind", "status"), [("failed", "failed"), ("completed", "failed"), ("completed", "cancelled")]
)
def test_a_response_that_fails_is_shown_and_charged_by_its_usage_alone(relay, kind, status, between) -> None:
    told = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    last = ended(f"response.{kind}", status=status, error={"code": "server_error", "message": "x"})
    used = {**last, "response": {**last["response"], "usage": told}}
    relay.channel(Upstream(streams(CREATED, *between, last), streams(CREATED, *between, used)))
    for spent in (0, 280):
        client = relay.call({"model": "gpt-5", "input": "x", "stream": True}, path=RESPONSES)
        assert (client.status, f"response.{kind}".encode() in client.body, relay.spent) == (200, True, spent)


def test_a_response_that_is_completed_without_anything_costs_nothing(relay) -> None:
    relay.channel(Upstream(streams(CREATED, ended("response.completed", status="completed"))))
    relay.call({"model": "gpt-5", "input": "x", "stream": True}, path=RESPONSES)
    assert (row().outcome, relay.spent) == ("cut", 0)


WHOLE = {
    "chat": ("openai", "/v1/chat/completions", chat(stream=True), completion(), b"chat.completion.chunk"),
    "responses": (
        "openai",
        RESPONSES,
        {"model": "gpt-5", "input": "x", "stream": True},
        {
            "id": "r",
            "object": "response",
            "status": "completed",
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi."}]}],
            "usage": {"input_tokens": 100, "output_tokens": 10},
        },
        b"response.completed",
    ),
    "messages": (
        "anthropic",
        MESSAGES,
        chat(stream=True, max_tokens=100),
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "Hi."}],
            "usage": {"input_tokens": 100, "output_tokens": 10},
        },
        b"message_stop",
    ),
}


@pytest.mark.parametrize(("platform", "path", "body", "answer", "mark"), WHOLE.values(), ids=WHOLE.keys())
def test_a_whole_answer_in_one_event_is_handed_on_as_a_stream(account, platform, path, body, answer, mark) -> None:
    relay = Relay(account, platform)
    relay.channel(Upstream(streams({"type": "ping"}, answer, "[DONE]")))
    client = relay.call(body, path=path)
    assert (client.status, mark in client.body, client.has_end, relay.spent) == (200, True, True, 280)


def test_pictures_in_one_event_are_handed_on_as_a_stream(account) -> None:
    relay = Relay(account, prices={}, image_prices={"img": 0.04})
    relay.channel(Upstream(streams({"created": 1, "data": [{"b64_json": "AA"}]})))
    client = relay.call({"model": "img", "prompt": "a fox", "stream": True}, path="/v1/images/generations")
    assert (client.status, b"image_generation.completed" in client.body, relay.spent) == (200, True, 40_000)


def called(arguments: str) -> dict:
    tool = {"index": 0, "function": {"name": "f", "arguments": arguments}}
    return delta("", choices=[{"index": 0, "delta": {"tool_calls": [tool]}, "finish_reason": None}])


def test_done_inside_of_a_tools_arguments_is_a_cut(relay) -> None:
    relay.channel(Upstream(streams(called('{"a"'), called(": "), "[DONE]")))
    client = relay.call(chat(stream=True))
    assert (b'"error"' in client.body, b"[DONE]" in client.body, row().outcome) == (True, False, "cut")


def test_done_ends_a_text_without_a_reason(relay) -> None:
    relay.channel(Upstream(streams(called("{}"), delta("Hi."), "[DONE]")))
    assert relay.call(chat(stream=True)).body.endswith(b"data: [DONE]\n\n")
    assert row().outcome == "succeeded"


@pytest.mark.parametrize(("reasons", "outcome"), [(("STOP", None), "cut"), (("STOP", "STOP"), "succeeded")])
def test_every_candidate_that_has_begun_must_end(account, reasons, outcome) -> None:
    relay = Relay(account, "gemini")
    content = {"parts": [{"text": "Hi."}]}
    chunks = [{"candidates": [{"index": index, "content": content}]} for index in (0, 1)]
    ends = [
        {"candidates": [{"index": index, "finishReason": reason}]} for index, reason in enumerate(reasons) if reason
    ]
    relay.channel(Upstream(streams(*chunks, *ends)))
    relay.call({"contents": []}, path=GOOGLE_STREAM)
    assert row().outcome == outcome
