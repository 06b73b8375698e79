"""Calls that end from outside: the client leaves, or the process stops, at any step. Pain 5: spend that is lost then,
and upstream calls that go on."""

import asyncio
import json
import threading
from asyncio import Future
from collections.abc import Callable
from typing import Any

import pytest

from billing import relayed_calls
from billing.models import RelayedCall
from catalog import relay_channels
from common.http.asgi import Message
from common.process import shutdown
from relay import books
from relay.calls import begun_streams, in_flight, times, whole_answers
from tests.relay.calling import CHAT, TEXT_STREAM, Client, Relay, chat, completion, delta, last_delta, row, used
from tests.relay.upstreams import LAST_CHUNK, STREAM, Behaviour, Talk, Upstream, answers, chunk, head, hurry, streams
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


Call = Future[Any]


class Pause:
    """A step of an upstream's behaviour at which the test takes over; it goes on when it is told to, or ends when the
    other side has gone."""

    def __init__(self, *said: bytes, events: tuple[Any, ...] = (), rest: Behaviour | None = None) -> None:
        self._said, self._events, self._rest = said, events, rest
        self.is_reached, self.goes_on, self.is_gone = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, talk: Talk) -> None:
        await talk.say(*self._said)
        for event in self._events:
            await talk.event(event)
        self.is_reached.set()
        if self._rest:
            await self.goes_on.wait()
            await self._rest(talk)
            return
        await talk.gone()
        self.is_gone.set()


async def left(relay: Relay, pause: Pause, asked: Any, path: str, *, until: bytes = b"") -> tuple[Client, Call]:
    """A call whose client has left at the pause, which it has heard of, and the call."""
    client = Client()
    call = asyncio.ensure_future(relay.ask(asked, client=client, path=path))
    await pause.is_reached.wait()
    await wait_for(lambda: until in client.body if until else True)
    client.left.set()
    await wait_for(lambda: client.is_watched)
    return client, call


def left_at(relay: Relay, pause: Pause, *, asked: Any = None, path: str = CHAT, until: bytes = b"") -> Client:
    """A call whose client leaves at the pause. Its upstream goes on, and does not hear of it."""
    relay.channel(Upstream(pause))

    async def work() -> Client:
        client, call = await left(relay, pause, asked or chat(stream=True, max_tokens=100), path, until=until)
        pause.goes_on.set()
        await call
        return client

    return relay.run(work)


async def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def events(*said: Any) -> Behaviour:
    """The rest of a stream that has begun."""

    async def behave(talk: Talk) -> None:
        for event in said:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    return behave


async def breaks_off(talk: Talk) -> None:
    talk.reset()


def charged() -> tuple[str, str, bool, int, int]:
    call = row()
    return call.outcome, call.state, call.is_estimated, call.http_status, call.actual_micros


def test_a_client_that_leaves_before_the_first_event_pays_what_the_answer_costs(relay) -> None:
    client = left_at(relay, Pause(STREAM, rest=events(*TEXT_STREAM)))
    assert client.sent == []
    assert charged() == ("left", "settled", False, 499, 280)


def test_a_client_that_leaves_before_the_usage_pays_what_staying_costs(relay) -> None:
    """All the text is there, and what was thought is told only at the end."""
    rest = events(last_delta(), used(100, 90), "[DONE]")
    client = left_at(relay, Pause(STREAM, events=(delta("x" * 40),), rest=rest), until=b"xxxx")
    assert not client.has_end
    assert charged() == ("left", "settled", False, 499, 100 * 2 + 90 * 8)


def test_a_stream_that_breaks_off_behind_a_client_that_left_costs_all_that_was_seen(relay) -> None:
    begun = delta("x" * 40, usage=used(100, 1)["usage"])

    async def rest(talk: Talk) -> None:
        await talk.event(delta("y" * 40))
        talk.reset()

    left_at(relay, Pause(STREAM, events=(begun,), rest=rest), until=b"xxxx")
    assert charged() == ("left", "settled", True, 499, 100 * 2 + 20 * 8)


def test_a_whole_answer_that_its_client_does_not_wait_for_costs_what_it_tells(relay) -> None:
    answer = json.dumps(completion()).encode()
    begun = head(content_type="application/json", content_length=str(len(answer)))

    async def rest(talk: Talk) -> None:
        await talk.say(answer[9:])

    left_at(relay, Pause(begun, answer[:9], rest=rest), asked=chat(max_tokens=100))
    assert charged() == ("left", "settled", False, 499, 280)


def test_an_answer_that_never_ends_is_given_up_some_time_after_its_client_has_left(relay) -> None:
    async def rest(talk: Talk) -> None:
        began = asyncio.get_running_loop().time()
        await talk.outlasts()
        passed.append(asyncio.get_running_loop().time() - began)
        pause.is_gone.set()

    async def work() -> None:
        _, call = await left(relay, pause, chat(stream=True, max_tokens=100), CHAT, until=b"xxxx")
        pause.goes_on.set()
        await call
        await pause.is_gone.wait()

    passed: list[float] = []
    pause = Pause(STREAM, events=(delta("x" * 40),), rest=rest)
    relay.channel(Upstream(pause))
    relay.run(work)
    assert times.ABANDONED_SECONDS <= passed[0] < times.SILENCE_SECONDS
    assert charged() == ("left", "settled", True, 499, row().input_tokens * 2 + 10 * 8)


def test_a_refusal_behind_a_client_that_left_costs_nothing_and_is_tried_nowhere_else(relay) -> None:
    async def rest(talk: Talk) -> None:
        await answers({"error": {"message": "slow down"}}, "429 Too Many Requests")(talk)

    pause = Pause(rest=rest)
    relay.channel(Upstream(pause))
    relay.channel(second := Upstream(answers(completion())))

    async def work() -> None:
        _, call = await left(relay, pause, chat(max_tokens=100), CHAT)
        pause.goes_on.set()
        await call

    relay.run(work)
    assert second.requests == []
    assert (row().outcome, row().state, relay.spent) == ("left", "released", 0)


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
        await wait_for(lambda: client.is_watched)
        is_over.set()
        await call

    monkeypatch.setattr(relay_channels, "refused", counts)
    relay.channel(Upstream(answers({}, "500 Internal Server Error")))
    relay.run(work)
    assert (row().state, row().outcome, row().is_loss, relay.spent) == ("released", "unknown", True, 0)


def test_a_client_whose_connection_breaks_is_one_that_has_left(relay) -> None:
    async def breaks(client: Client) -> None:
        if client.sent:
            raise ConnectionResetError

    relay.channel(Upstream(streams(*TEXT_STREAM)))
    relay.call(chat(stream=True), client=Client(reads=breaks))
    assert charged() == ("left", "settled", False, 499, 280)


def test_a_client_that_reads_slowly_spends_no_time_of_the_upstream(relay, monkeypatch) -> None:
    """All the time of a stream passes while its client reads nothing."""
    has_waited = False

    async def reads(client: Client) -> None:
        nonlocal has_waited
        if client.sent and not has_waited:
            has_waited = True
            hurry(times.STREAM_SECONDS)

    relay.channel(Upstream(streams(*TEXT_STREAM)))
    client = relay.call(chat(stream=True), client=Client(reads=reads))
    assert client.body.endswith(b"data: [DONE]\n\n")
    assert charged() == ("succeeded", "settled", False, 200, 280)


def test_a_stream_that_was_held_up_by_its_client_and_breaks_off_costs_what_was_seen(relay) -> None:
    async def reads(client: Client) -> None:
        if client.sent:
            hurry(times.HELD_UP_SECONDS)

    async def behave(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(delta("x" * 40))
        talk.reset()

    relay.channel(Upstream(behave))
    relay.call(chat(stream=True), client=Client(reads=reads))
    assert charged() == ("cut", "settled", True, 200, row().input_tokens * 2 + 10 * 8)


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
    monkeypatch.setattr(whole_answers, "read_answer", fails)
    client = relay.call()
    assert (client.status, client.headers["x-call-id"], client.headers["x-should-retry"]) == (500, row().id, "false")
    assert (row().state, row().is_loss) == ("released", True)


def test_a_fault_of_our_own_in_the_middle_of_a_stream_ends_it_with_an_error(relay, monkeypatch) -> None:
    """A full disk, say: an OSError is not always the client's."""

    async def fails(*_: object) -> None:
        raise OSError("No space left on device")

    relay.channel(Upstream(Pause(STREAM, events=(delta("x", usage=used(100, 1)["usage"]),))))
    monkeypatch.setattr(begun_streams, "next_frames", fails_later(begun_streams.next_frames, fails))
    client = relay.call(chat(stream=True))
    assert client.body.count(b'"error"') == 1
    assert client.has_end
    assert (row().outcome, relay.spent) == ("cut", 208)


def fails_later(once: Callable[..., Any], then: Callable[..., Any]) -> Callable[..., Any]:
    """What works once, and then does not."""
    steps = iter([once])
    return lambda *arguments: next(steps, then)(*arguments)
