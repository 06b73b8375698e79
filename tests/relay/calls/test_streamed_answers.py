"""A whole answer was asked for, and the upstream answers with the events of a stream: a common fault of gateways."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from relay.calls import kept_answers
from tests.relay.calling import TEXT_STREAM, Client, Relay, chat, completion, delta, last_delta, row, used
from tests.relay.upstreams import LAST_CHUNK, STREAM, Behaviour, Talk, Upstream, answers, chunk, head, streams

pytestmark = pytest.mark.django_db(transaction=True)
PICTURES = {"prices": {}, "image_prices": {"gpt-5": 0.04}}
USED = {"input_tokens": 100, "output_tokens": 10}
GOOGLE_USED = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One dialect's request for a whole answer, the events that come to it, and what the client reads."""

    platform: str
    path: str
    asked: dict[str, Any]
    events: tuple[Any, ...]
    whole: dict[str, Any]


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a"'}}
CALL_GOES_ON = {"index": 0, "function": {"arguments": ": 1}"}}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "upstream"}
TEXT = {"type": "output_text", "text": "Hi.", "annotations": []}
SAID = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [TEXT]}
RESPONSE = {"id": "r", "object": "response", "created_at": 1, "model": "upstream", "status": "completed"}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "upstream", "content": []}


def choices(**said: Any) -> dict[str, Any]:
    return {**CHUNK, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}


def parts(*texts: str, **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text} for text in texts]}
    return {"candidates": [{"index": 0, "content": content, **more}], "modelVersion": "upstream", "responseId": "r"}


DIALECTS = {
    "chat": Dialect(
        platform="openai",
        path="/v1/chat/completions",
        asked=chat(),
        events=(
            choices(role="assistant", content=""),
            choices(content="H"),
            choices(content="i."),
            choices(tool_calls=[CALL]),
            choices(tool_calls=[CALL_GOES_ON]),
            {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
            {**CHUNK, "choices": [], "usage": used()["usage"]},
            "[DONE]",
        ),
        whole={
            **CHUNK,
            "object": "chat.completion",
            "model": "gpt-5",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "Hi.",
                        "tool_calls": [
                            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
                        ],
                    },
                    "logprobs": None,
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": used()["usage"],
        },
    ),
    "responses": Dialect(
        platform="openai",
        path="/v1/responses",
        asked={"model": "gpt-5", "input": "Hello"},
        events=(
            {"type": "response.created", "response": {**RESPONSE, "status": "in_progress", "output": []}},
            {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi."},
            {"type": "response.output_item.done", "output_index": 0, "item": SAID},
            {"type": "response.completed", "response": {**RESPONSE, "output": [], "usage": USED}},
        ),
        whole={**RESPONSE, "model": "gpt-5", "output": [SAID], "usage": USED},
    ),
    "messages": Dialect(
        platform="anthropic",
        path="/v1/messages",
        asked=chat(max_tokens=100),
        events=(
            {
                "type": "message_start",
                "message": {**MESSAGE, "stop_reason": None, "usage": {"input_tokens": 100, "output_tokens": 1}},
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "ping"},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "."}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "content_block_start",
                "index": 1,
                "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            },
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": '{"a":'},
            },
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " 1}"}},
            {"type": "content_block_stop", "index": 1},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
        ),
        whole={
            **MESSAGE,
            "model": "gpt-5",
            "content": [
                {"type": "text", "text": "Hi."},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
            ],
            "stop_reason": "tool_use",
            "usage": USED,
        },
    ),
    "generate_content": Dialect(
        platform="gemini",
        path="/v1beta/models/gpt-5:generateContent",
        asked={"contents": [{"parts": [{"text": "Hello"}]}]},
        events=(parts("H"), parts("i"), {**parts(".", finishReason="STOP"), "usageMetadata": GOOGLE_USED}),
        whole={
            **parts("Hi.", finishReason="STOP"),
            "modelVersion": "gpt-5",
            "usageMetadata": GOOGLE_USED,
        },
    ),
}
ALL = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())


def relay_of(account, dialect: Dialect) -> Relay:
    return Relay(account, dialect.platform)


@ALL
def test_the_events_come_as_the_whole_answer_that_was_asked_for(account, dialect) -> None:
    relay = relay_of(account, dialect)
    relay.channel(Upstream(streams(*dialect.events)), upstream_models={"gpt-5": "upstream"})
    client = relay.call(dialect.asked, path=dialect.path)
    assert (client.status, client.headers["content-type"]) == (200, "application/json")
    assert json.loads(client.body) == dialect.whole
    call = row()
    assert (call.outcome, call.actual_micros, call.is_estimated, call.is_stream) == ("succeeded", 280, False, False)
    assert (relay.spent, call.flags) == (280, None)


@pytest.mark.parametrize("item", [{"b64_json": "AAAA"}, {"url": "https://pictures.example/1.png"}])
def test_completed_pictures_come_as_the_whole_answer_that_was_asked_for(account, item) -> None:
    relay = Relay(account, **PICTURES)
    kind = "image_generation.completed"
    told = {"type": kind, "created_at": 7, "size": "1024x1024", "quality": "low", "usage": USED}
    events = [{**told, **item}, {**told, **item, "revised_prompt": "a red fox"}]
    relay.channel(Upstream(streams(*events)))
    client = relay.call({"model": "gpt-5", "prompt": "a fox", "n": 2}, path="/v1/images/generations")
    assert client.status == 200
    assert json.loads(client.body) == {
        "created": 7,
        "size": "1024x1024",
        "quality": "low",
        "data": [item, {**item, "revised_prompt": "a red fox"}],
        "usage": {"input_tokens": 200, "output_tokens": 20},
    }
    assert (row().outcome, row().images, relay.spent) == ("succeeded", 2, 80_000)


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", ""])
@pytest.mark.parametrize("before", [b"", b": alive\n\n", b"\r\n\r\n", b"event: message\n"])
def test_events_are_known_by_their_beginning_whatever_their_media_type(account, media_type, before) -> None:
    relay = Relay(account)
    said = before + b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in TEXT_STREAM[:-1])
    named = {"content_type": media_type} if media_type else {}

    async def behave(talk: Talk) -> None:
        await talk.say(head(transfer_encoding="chunked", **named), chunk(said), LAST_CHUNK)

    relay.channel(Upstream(behave))
    client = relay.call()
    assert json.loads(client.body)["choices"][0]["message"]["content"] == "Hello."
    assert (client.status, relay.spent) == (200, 280)


def test_json_under_the_media_type_of_events_stays_as_it_is(account) -> None:
    relay = Relay(account)
    relay.channel(Upstream(answers(completion(extra="kept"), content_type="text/event-stream")))
    client = relay.call()
    assert (client.status, json.loads(client.body), relay.spent) == (200, completion(extra="kept"), 280)


def test_a_whole_answer_in_one_event_comes_as_the_answer(account) -> None:
    relay = Relay(account)
    relay.channel(Upstream(streams({"type": "ping"}, completion(), "[DONE]")))
    client = relay.call()
    assert (client.status, json.loads(client.body), relay.spent) == (200, completion(), 280)


def test_chunks_in_one_array_of_google_come_as_the_answer(account) -> None:
    dialect = DIALECTS["generate_content"]
    relay = relay_of(account, dialect)
    relay.channel(Upstream(answers([*dialect.events])), upstream_models={"gpt-5": "upstream"})
    client = relay.call(dialect.asked, path=dialect.path)
    assert (client.status, json.loads(client.body), relay.spent) == (200, dialect.whole, 280)


@ALL
def test_events_that_tell_no_usage_are_charged_by_an_estimate(account, dialect) -> None:
    relay = relay_of(account, dialect)
    events = json.loads(json.dumps(dialect.events).replace('"usage', '"unknown'))
    relay.channel(Upstream(streams(*events)))
    client = relay.call(dialect.asked, path=dialect.path)
    call = row()
    assert (client.status, call.outcome, call.is_estimated) == (200, "succeeded", True)
    assert call.actual_micros == relay.spent == call.input_tokens * 2 + call.output_tokens * 8
    assert call.output_tokens > 0


def cut(*events: Any) -> Behaviour:
    async def behave(talk: Talk) -> None:
        await talk.say(STREAM)
        for event in events:
            await talk.event(event)
        talk.reset()

    return behave


@ALL
@pytest.mark.parametrize("breaks", [streams, cut])
def test_events_that_break_off_are_an_error_that_costs_nothing_and_are_not_asked_for_again(
    account, dialect, breaks
) -> None:
    relay = relay_of(account, dialect)
    relay.channel(Upstream(breaks(*dialect.events[:2])))
    relay.channel(second := Upstream(answers(dialect.whole)))
    client = relay.call(dialect.asked, path=dialect.path)
    assert (client.status, client.headers["content-type"]) == (502, "application/json")
    assert (client.headers["x-should-retry"], second.requests) == ("false", [])
    assert (relay.spent, row().outcome, row().is_loss) == (0, "unknown", True)


ERRORS = {
    "openai": {"error": {"message": "sk-secret", "code": "rate_limit_exceeded"}},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "sk-secret"}},
    "gemini": {"error": {"code": 429, "message": "sk-secret", "status": "RESOURCE_EXHAUSTED"}},
}


@ALL
def test_an_error_before_anything_else_goes_on_to_the_next_channel(account, dialect) -> None:
    relay = relay_of(account, dialect)
    relay.channel(Upstream(streams("ping", ERRORS[dialect.platform])))
    relay.channel(Upstream(streams(*dialect.events)))
    client = relay.call(dialect.asked, path=dialect.path)
    assert (client.status, relay.spent, len(row().attempts)) == (200, 280, 2)


@ALL
def test_an_error_behind_a_part_of_the_answer_goes_nowhere_else(account, dialect) -> None:
    relay = relay_of(account, dialect)
    relay.channel(Upstream(streams(*dialect.events[:2], ERRORS[dialect.platform])))
    relay.channel(second := Upstream(streams(*dialect.events)))
    client = relay.call(dialect.asked, path=dialect.path)
    assert (client.status, client.headers["x-should-retry"], second.requests) == (502, "false", [])
    assert (b"sk-secret" in client.body, relay.spent, row().is_loss) == (False, 0, True)


def test_a_refusal_behind_a_part_of_the_answer_is_told_and_its_cost_is_the_operators(account) -> None:
    relay = Relay(account)
    refused = {"error": {"message": "not this", "code": "content_policy_violation", "type": "invalid_request_error"}}
    relay.channel(Upstream(streams(delta("Hi."), refused)))
    client = relay.call()
    assert (client.status, client.error["message"]) == (400, "not this")
    assert (relay.spent, row().outcome, row().is_loss) == (0, "unknown", True)


FAILED = {"id": "r", "object": "response", "status": "failed", "output": [], "error": {"code": "server_error"}}


@pytest.mark.parametrize(("usage", "status", "spent"), [(USED, 200, 280), (None, 502, 0)])
def test_a_response_that_has_failed_is_an_answer_where_it_tells_its_usage(account, usage, status, spent) -> None:
    relay = Relay(account)
    created = DIALECTS["responses"].events[0]
    relay.channel(Upstream(streams(created, {"type": "response.failed", "response": {**FAILED, "usage": usage}})))
    client = relay.call({"model": "gpt-5", "input": "x"}, path="/v1/responses")
    assert (client.status, b'"failed"' in client.body, relay.spent) == (status, status == 200, spent)


@pytest.mark.parametrize("frames", [["[DONE]"], ["ping"], [{"choices": [{}]}, "[DONE]"], [], ["{", "[DONE]"]])
def test_events_without_an_answer_are_502_and_cost_nothing(account, frames) -> None:
    relay = Relay(account)
    relay.channel(Upstream(streams(*frames)))
    assert (relay.call().status, relay.spent, row().is_loss) == (502, 0, True)


@ALL
def test_events_that_tell_only_their_usage_are_an_answer(account, dialect) -> None:
    relay = relay_of(account, dialect)
    told = [event for event in dialect.events if '"usage' in json.dumps(event)]
    ends = [event for event in dialect.events[-1:] if event not in told]
    if dialect.platform == "gemini":
        told = [{**told[0], "candidates": [{"index": 0, "finishReason": "STOP"}]}]
    relay.channel(Upstream(streams(*told, *ends)))
    client = relay.call(dialect.asked, path=dialect.path)
    assert (client.status, row().outcome) == (200, "succeeded")
    assert relay.spent == 280


def test_tokens_are_not_counted_by_events(account) -> None:
    relay = Relay(account, "anthropic")
    relay.channel(Upstream(streams({"input_tokens": 7})))
    assert relay.call({"model": "gpt-5", "messages": []}, path="/v1/messages/count_tokens").status == 502


def test_an_upstream_that_leaves_its_connection_open_has_ended(account) -> None:
    relay = Relay(account)

    async def stays(talk: Talk) -> None:
        await talk.say(STREAM)
        for event in (delta("Hello."), last_delta(), used()):
            await talk.event(event)
        await talk.outlasts()

    relay.channel(Upstream(stays))
    assert (relay.call().status, relay.spent) == (200, 280)


def test_large_events_come_as_one_large_answer(account) -> None:
    relay = Relay(account)
    texts = [f"{number:06}" * 10_000 for number in range(30)]
    relay.channel(Upstream(streams(*(delta(text) for text in texts), last_delta(), used())))
    client = relay.call()
    assert json.loads(client.body)["choices"][0]["message"]["content"] == "".join(texts)
    assert int(client.headers["content-length"]) == len(client.body)
    assert relay.spent == 280


@pytest.mark.parametrize("depth", [100, 960, 5_000])
def test_events_may_be_as_deep_as_they_like(account, depth) -> None:
    relay = Relay(account)
    deep = json.dumps(choices(content="", more=0)).replace('"more": 0', f'"more": {"[" * depth}{"]" * depth}')
    relay.channel(Upstream(streams(deep, *TEXT_STREAM)))
    client = relay.call()
    assert json.loads(client.body)["choices"][0]["message"]["content"] == "Hello."
    assert (client.status, relay.spent) == (200, 280)


def test_events_are_bounded_as_whole_answers_are(account, monkeypatch) -> None:
    monkeypatch.setattr(kept_answers, "LARGEST_BYTES", 1000)
    relay = Relay(account)
    relay.channel(Upstream(streams(delta("x" * 500), delta("x" * 500), last_delta(), used())))
    assert (relay.call().status, relay.spent, row().is_loss) == (502, 0, True)


def test_a_client_that_has_left_pays_for_the_events_that_came(account) -> None:
    relay, client = Relay(account), Client()

    async def goes_on(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(TEXT_STREAM[0])
        client.left.set()
        while not client.is_watched:
            await asyncio.sleep(0.001)
        for event in TEXT_STREAM[1:]:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    relay.channel(Upstream(goes_on))
    relay.call(client=client)
    assert (row().outcome, relay.spent) == ("left", 280)
