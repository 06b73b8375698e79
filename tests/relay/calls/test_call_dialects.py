"""Relayed calls in the other dialects: what they cost, whole and as a stream, and counting, which costs nothing."""

import json
from typing import Any

import pytest

from billing.models import RelayedCall
from tests.relay.calling import Client, Relay, row
from tests.relay.upstreams import LAST_CHUNK, STREAM, Behaviour, Talk, Upstream, answers, chunk

pytestmark = pytest.mark.django_db(transaction=True)

PRICES = {"prices": {"*": {"input": 2, "output": 8, "cached_input": 1}}}
MESSAGE = {"model": "claude-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}
CONTENT = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
WHOLE = {"id": "m", "type": "message", "role": "assistant", "model": "claude-5", "stop_reason": "end_turn"}


def events(*shown: dict[str, Any]) -> Behaviour:
    async def behave(talk: Talk) -> None:
        await talk.say(STREAM)
        for event in shown:
            await talk.say(chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()))
        await talk.say(LAST_CHUNK)

    return behave


def test_messages_cost_the_same_whole_and_as_a_stream(account) -> None:
    usage = {"input_tokens": 100, "output_tokens": 10}
    begun = {"type": "message_start", "message": {**WHOLE, "usage": {"input_tokens": 100, "output_tokens": 1}}}
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 10}}
    relay = Relay(account, "anthropic", **PRICES)
    whole = answers({**WHOLE, "content": [{"type": "text", "text": "Hi."}], "usage": usage})
    relay.channel(Upstream(whole, events(begun, ended, {"type": "message_stop"})))
    assert relay.call(MESSAGE, path="/v1/messages").status == 200
    streamed = relay.call({**MESSAGE, "stream": True}, path="/v1/messages")
    assert streamed.body.endswith(b'{"type": "message_stop"}\n\n')
    assert [call.actual_micros for call in RelayedCall.objects.all()] == [280, 280]
    assert relay.spent == 560


def test_a_message_stream_that_is_cut_says_so_in_its_own_dialect(account) -> None:
    begun = {"type": "message_start", "message": {**WHOLE, "usage": {"input_tokens": 100, "output_tokens": 1}}}
    relay = Relay(account, "anthropic", **PRICES)
    relay.channel(Upstream(events(begun)))
    client = relay.call({**MESSAGE, "stream": True}, path="/v1/messages")
    last = client.body.split(b"\n\n")[-2]
    assert last.startswith(b"event: error\ndata: ")
    assert json.loads(last.partition(b"data: ")[2])["type"] == "error"
    assert (row().outcome, relay.spent) == ("cut", 200)


def test_counting_tokens_costs_nothing_and_has_no_row(account) -> None:
    relay = Relay(account, "anthropic", **PRICES)
    relay.channel(Upstream(answers({"input_tokens": 7})))
    client = relay.call(MESSAGE, path="/v1/messages/count_tokens")
    assert (json.loads(client.body), "x-call-id" in client.headers) == ({"input_tokens": 7}, False)
    assert not RelayedCall.objects.exists()


def told(text: str, output: int, **more: str) -> dict[str, Any]:
    """A chunk of Google's stream."""
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, **more}
    counts = {"promptTokenCount": 100, "candidatesTokenCount": output, "totalTokenCount": 100 + output}
    return {"candidates": [candidate], "usageMetadata": counts}


def test_generated_content_is_charged_by_the_last_usage_that_its_stream_tells(account) -> None:
    async def behave(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(told("H", 1))
        await talk.event(told("i.", 10, finishReason="STOP"))
        await talk.say(LAST_CHUNK)

    relay = Relay(account, "gemini", **PRICES)
    relay.channel(there := Upstream(behave))
    client = relay.call(CONTENT, path="/v1beta/models/gem-1:streamGenerateContent?alt=sse")
    assert (client.status, client.has_end, relay.spent) == (200, True, 280)
    assert b"/v1beta/models/gem-1:streamGenerateContent?alt=sse" in there.requests[0]


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_stream_of_google_is_one_array_for_a_client_that_asks_for_no_events(account, is_cut) -> None:
    chunks = [told("H", 1), told("i.", 10, **({} if is_cut else {"finishReason": "STOP"}))]
    client = Client()

    async def pauses(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(chunks[0])
        await client.kept_waiting()
        await talk.event(chunks[1])
        await talk.say(LAST_CHUNK)

    relay = Relay(account, "gemini", **PRICES)
    relay.channel(there := Upstream(pauses))
    relay.call(CONTENT, client=client, path="/v1beta/models/gem-1:streamGenerateContent")
    assert b":streamGenerateContent?alt=sse" in there.requests[0]
    assert (client.status, client.headers["content-type"], client.has_end) == (200, "application/json", True)
    *elements, last = json.loads(client.body) if is_cut else [*json.loads(client.body), None]
    assert elements == chunks
    first, _, second = client.body.partition(b",\r\n")
    assert first.rstrip(b"\n") == b"[" + json.dumps(chunks[0]).encode()
    assert second.startswith(json.dumps(chunks[1]).encode())
    assert (row().outcome, relay.spent) == ("cut" if is_cut else "succeeded", 280)
    assert not is_cut or "broke off" in last["error"]["message"]
