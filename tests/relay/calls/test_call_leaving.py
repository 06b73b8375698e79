"""Calls that end from outside: the client leaves, or the process stops, at any step. Pain 5: spend that is lost then,
and upstream calls that go on."""

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from billing import relayed_calls
from billing.models import RelayedCall
from catalog import relay_channels
from common.http.asgi import Message
from common.process import shutdown
from relay import books
from relay.calls import attempts, in_flight, whole_answers
from tests.relay.calling import TEXT_STREAM, Client, Relay, chat, completion, delta, row, used
from tests.relay.upstreams import STREAM, Talk, Upstream, answers, chunk, head
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


class Pause:
    """A step of an upstream's behaviour at which the test takes over."""

    def __init__(self, *said: bytes, events: tuple[Any, ...] = ()) -> None:
        self._said, self._events = said, events
        self.is_reached = asyncio.Event()
        self.is_gone = asyncio.Event()

    async def __call__(self, talk: Talk) -> None:
        await talk.say(*self._said)
        for event in self._events:
            await talk.event(event)
        self.is_reached.set()
        await talk.gone()
        self.is_gone.set()


def left_at(relay: Relay, pause: Pause, *, is_stream: bool = True, until: bytes = b"") -> Client:
    """A call whose client leaves there; its upstream must hear of it at once."""
    relay.channel(Upstream(pause))

    async def work() -> Client:
        heard = asyncio.Event()

        async def reads(client: Client) -> None:
            if until in client.body:
                heard.set()

        client = Client(reads=reads)
        call = asyncio.create_task(relay.ask(chat(stream=is_stream, max_tokens=100), client=client))
        await pause.is_reached.wait()
        if until:
            await wait_for(lambda: until in client.body)
        client.left.set()
        await call
        await pause.is_gone.wait()
        return client

    return relay.run(work)


async def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def test_a_client_that_leaves_before_the_first_event_pays_for_what_went_in(relay) -> None:
    client = left_at(relay, Pause())
    assert client.sent == []
    call = row()
    assert (call.outcome, call.state, call.is_estimated, call.http_status) == ("left", "settled", True, 499)
    assert (call.output_tokens, call.input_tokens > 0) == (0, True)
    assert 0 < call.actual_micros == call.input_tokens * 2 < call.estimated_micros


def test_a_client_that_leaves_in_the_middle_pays_for_what_it_got(relay) -> None:
    client = left_at(relay, Pause(STREAM, events=(delta("x" * 40),)), until=b"xxxx")
    assert not client.has_end
    assert (row().outcome, row().is_estimated, row().output_tokens) == ("left", True, 10)
    assert relay.spent == row().input_tokens * 2 + 10 * 8


def test_what_was_seen_of_the_usage_counts_when_a_client_leaves(relay) -> None:
    begun = delta("x" * 40, usage=used(100, 1)["usage"])
    left_at(relay, Pause(STREAM, events=(begun,)), until=b"xxxx")
    assert (row().input_tokens, row().output_tokens, relay.spent) == (100, 10, 280)


def test_a_client_that_leaves_while_a_whole_answer_comes_ends_the_call(relay) -> None:
    left_at(relay, Pause(head(content_type="application/json", content_length="1000"), b'{"id":'), is_stream=False)
    assert (row().outcome, row().state) == ("left", "settled")


class HeldStep:
    """A step of the books that begins, and goes no further before it may."""

    def __init__(self, step: Callable[..., Any]) -> None:
        self._step = step
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()

    def __call__(self, *arguments: Any) -> Any:
        self.has_begun.set()
        assert self.may_go_on.wait(PATIENCE)
        return self._step(*arguments)


def test_a_client_that_leaves_before_anything_was_sent_pays_nothing(relay, monkeypatch) -> None:
    """It leaves while its money is being held."""
    relay.channel(there := Upstream(answers(completion())))
    monkeypatch.setattr(relayed_calls, "reserve_free", step := HeldStep(relayed_calls.reserve_free))
    client = Client()

    async def work() -> None:
        call = asyncio.create_task(relay.ask(client=client))
        await wait_for(step.has_begun.is_set)
        client.left.set()
        await call
        step.may_go_on.set()

    relay.run(work)
    assert (client.sent, there.requests) == ([], [])
    once("released")
    assert relay.spent == 0


def once(state: str) -> None:
    """Returns when the books say this of the only call."""
    wait_until(lambda: list(RelayedCall.objects.values_list("state", flat=True)) == [state], what=state)


def test_a_client_that_leaves_after_a_refusal_pays_nothing(relay, monkeypatch) -> None:
    """It leaves while the refusal is written down."""
    relay.channel(Upstream(answers({"error": {"message": "slow down"}}, "429 Too Many Requests")))
    relay.channel(second := Upstream(answers(completion())))
    client, refused = Client(), relay_channels.refused

    def leaves(*what: Any) -> None:
        loop.call_soon_threadsafe(client.left.set)
        refused(*what)
        wait_until(lambda: client.left.is_set())

    async def work() -> None:
        nonlocal loop
        loop = asyncio.get_running_loop()
        await relay.ask(client=client)

    loop = None
    monkeypatch.setattr(relay_channels, "refused", leaves)
    relay.run(work)
    assert (client.sent, second.requests) == ([], [])
    assert (row().outcome, row().state, relay.spent) == ("left", "released", 0)


def test_a_client_that_leaves_while_its_end_is_written_is_charged_once(relay, monkeypatch) -> None:
    monkeypatch.setattr(relayed_calls, "end_free", step := HeldStep(relayed_calls.end_free))
    relay.channel(Upstream(answers(completion())))
    is_told = asyncio.Event()

    class Leaver(Client):
        async def receive(self) -> Message:
            message = await super().receive()
            is_told.set()
            return message

    async def work() -> None:
        client = Leaver()
        call = asyncio.create_task(relay.ask(client=client))
        await wait_for(step.has_begun.is_set)
        client.left.set()
        await is_told.wait()
        step.may_go_on.set()
        await call

    relay.run(work)
    once("settled")
    assert (row().outcome, relay.spent) == ("succeeded", 280)


def test_a_client_that_leaves_once_its_call_has_failed_pays_nothing(relay, monkeypatch) -> None:
    """It leaves while the failure is being counted against the channel."""
    client, has_failed, is_over = Client(), threading.Event(), threading.Event()

    def counts(*_: object) -> None:
        has_failed.set()
        is_over.wait(PATIENCE)

    async def work() -> None:
        call = asyncio.create_task(relay.ask(client=client))
        await wait_for(has_failed.is_set)
        client.left.set()
        await call
        is_over.set()

    monkeypatch.setattr(relay_channels, "refused", counts)
    relay.channel(Upstream(answers({}, "500 Internal Server Error")))
    relay.run(work)
    assert (row().state, row().outcome, row().is_loss, relay.spent) == ("released", "unknown", True, 0)


def test_a_client_whose_connection_breaks_is_one_that_has_left(relay) -> None:
    async def breaks(client: Client) -> None:
        if client.sent:
            raise ConnectionResetError

    relay.channel(Upstream(Pause(STREAM, events=(delta("x"),))))
    relay.call(chat(stream=True), client=Client(reads=breaks))
    assert (row().outcome, row().state) == ("left", "settled")


def test_a_server_that_cancels_the_request_loses_no_settlement(relay) -> None:
    pause = Pause(STREAM, events=(delta("x" * 40),))
    relay.channel(Upstream(pause))

    async def work() -> None:
        call = asyncio.create_task(relay.ask(chat(stream=True)))
        await pause.is_reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await pause.is_gone.wait()

    relay.run(work)
    assert (row().outcome, row().state) == ("left", "settled")


@pytest.fixture
def stopping(monkeypatch) -> Callable[[], None]:
    """Makes this process stop, with no time left for the calls in flight."""
    monkeypatch.setattr(in_flight, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(in_flight, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(in_flight.in_flight, "_ends_at", None)
    is_alive = True
    monkeypatch.setattr(shutdown, "_is_alive", lambda: is_alive)

    def stop() -> None:
        nonlocal is_alive
        is_alive = False

    return stop


def stopped_at(relay: Relay, pause: Pause, stop: Callable[[], None], *, until: bytes = b"") -> Client:
    relay.channel(Upstream(pause))

    async def work() -> Client:
        client = Client()
        call = asyncio.create_task(relay.ask(chat(stream=True, max_tokens=100), client=client))
        await pause.is_reached.wait()
        await wait_for(lambda: until in client.body if until else True)
        stop()
        await call
        return client

    return relay.run(work)


def test_a_stream_in_flight_ends_with_an_error_when_the_process_stops(relay, stopping) -> None:
    begun = delta("x" * 40, usage=used(100, 1)["usage"])
    client = stopped_at(relay, Pause(STREAM, events=(begun,)), stopping, until=b"xxxx")
    assert client.has_end
    assert b'"error"' in client.body
    assert b"stopping" in client.body
    assert (row().outcome, relay.spent) == ("cut", 208)


def test_an_array_that_its_client_has_not_begun_to_read_is_one_when_the_process_stops(account, stopping) -> None:
    relay, has_stopped = Relay(account, "gemini"), False

    async def reads(client: Client) -> None:
        nonlocal has_stopped
        if client.sent and not has_stopped:
            has_stopped = True
            stopping()
            await asyncio.Event().wait()

    relay.channel(Upstream(Pause(STREAM, events=({"candidates": []},))))
    path = "/v1/models/gpt-5:streamGenerateContent"
    client = relay.call({"contents": []}, client=Client(reads=reads), path=path)
    (element,) = json.loads(client.body)
    assert "stopping" in element["error"]["message"]


def test_a_call_without_an_answer_is_told_that_the_process_stops(relay, stopping) -> None:
    client = stopped_at(relay, Pause(), stopping)
    assert (client.status, client.headers["x-should-retry"]) == (502, "false")
    assert (row().outcome, row().is_loss, relay.spent) == ("unknown", True, 0)


def test_a_call_whose_money_is_being_held_when_the_process_stops_is_sent_nowhere(relay, stopping, monkeypatch) -> None:
    async def stops(call: Any) -> None:
        stopping()
        await asyncio.Event().wait()

    monkeypatch.setattr(books, "reserve", stops)
    relay.channel(there := Upstream(answers(completion())))
    client = relay.call()
    assert (client.status, client.error["message"], there.requests) == (503, "The service is stopping.", [])


def test_a_stream_that_ends_within_the_grace_of_a_stop_ends_well(relay, stopping, monkeypatch) -> None:
    monkeypatch.setattr(in_flight, "GRACE_SECONDS", 60.0)

    async def ends(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(TEXT_STREAM[0])
        stopping()
        await wait_for(lambda: in_flight.in_flight._ends_at is not None)
        for event in TEXT_STREAM[1:]:
            await talk.event(event)
        await talk.say(chunk(b""))

    relay.channel(Upstream(ends))
    assert relay.call(chat(stream=True)).body.endswith(b"data: [DONE]\n\n")
    assert relay.spent == 280


def test_a_fault_of_our_own_ends_the_call_and_names_it(relay, monkeypatch) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    relay.channel(Upstream(answers(completion())))
    monkeypatch.setattr(whole_answers, "received", fails)
    client = relay.call()
    assert (client.status, client.headers["x-call-id"], client.headers["x-should-retry"]) == (500, row().id, "false")
    assert (row().state, row().is_loss) == ("released", True)


def test_a_fault_of_our_own_in_the_middle_of_a_stream_ends_it_with_an_error(relay, monkeypatch) -> None:
    """A full disk, say: an OSError is not always the client's."""

    async def fails(*_: object) -> None:
        raise OSError("No space left on device")

    relay.channel(Upstream(Pause(STREAM, events=(delta("x", usage=used(100, 1)["usage"]),))))
    monkeypatch.setattr(attempts, "more", fails_later(attempts.more, fails))
    client = relay.call(chat(stream=True))
    assert client.body.count(b'"error"') == 1
    assert client.has_end
    assert (row().outcome, relay.spent) == ("cut", 208)


def fails_later(once: Callable[..., Any], then: Callable[..., Any]) -> Callable[..., Any]:
    """What works once, and then does not."""
    steps = iter([once])
    return lambda *arguments: next(steps, then)(*arguments)
