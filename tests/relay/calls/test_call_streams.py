"""Streams on their way: signs of life, slow readers, and everything in which an upstream can break off."""

import asyncio
import gzip

import pytest

from billing.models import RelayedCall
from common.concurrency import threads
from relay.wire import sse
from tests.relay.calling import TEXT_STREAM, Client, Relay, chat, delta, row, used
from tests.relay.upstreams import LAST_CHUNK, STREAM, Behaviour, Talk, Upstream, chunk, head, hurry, streams
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


def breaks(*pieces: bytes) -> Behaviour:
    """A stream that begins, and then says these bytes and ends the connection."""

    async def behave(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(delta("Hel"))
        await talk.say(*pieces)
        talk.writer.close()

    return behave


CUTS = {
    "the connection ends": breaks(),
    "the stream ends too early": breaks(LAST_CHUNK),
    "half a frame": breaks(chunk(b'data: {"id": '), LAST_CHUNK),
    "an error of the provider": breaks(chunk(b'data: {"error": {"message": "acct-7 failed", "code": 500}}\n\n')),
}


@pytest.mark.parametrize("behave", CUTS.values(), ids=CUTS.keys())
def test_a_cut_stream_ends_with_an_error_and_without_usage_it_is_the_operators_loss(relay, behave) -> None:
    """Pain 15: a truncated stream that looks like a success."""
    relay.channel(Upstream(behave))
    client = relay.call(chat(stream=True))
    assert (client.status, client.has_end) == (200, True)
    assert b'"Hel"' in client.body
    last = client.body.rsplit(b"data: ", 1)[1]
    assert b'"error"' in last
    assert b"[DONE]" not in client.body
    assert b"acct-7" not in client.body
    assert (row().outcome, row().state, row().is_loss, relay.spent) == ("cut", "released", True, 0)


def test_a_stream_that_has_said_all_and_stays_open_ends_well(relay) -> None:
    async def lingers(talk: Talk) -> None:
        await talk.say(STREAM)
        for event in TEXT_STREAM[:-1]:
            await talk.event(event)
        await talk.outlasts()

    relay.channel(Upstream(lingers))
    client = relay.call(chat(stream=True))
    assert b'"error"' not in client.body
    assert client.has_end
    assert (row().outcome, relay.spent) == ("succeeded", 280)


def test_a_cut_stream_that_told_its_usage_is_charged_by_it(relay) -> None:
    relay.channel(Upstream(streams(delta("Hel", usage=used(100, 5)["usage"]))))
    client = relay.call(chat(stream=True))
    assert b'"error"' in client.body
    assert (row().outcome, row().actual_micros, row().is_estimated, relay.spent) == ("cut", 240, False, 240)


def test_the_first_usage_is_noted_while_the_stream_goes_on(relay) -> None:
    async def told(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(delta("Hel", usage=used(100, 1)["usage"]))
        await threads.call(wait_until, lambda: RelayedCall.objects.get().noted_micros)
        for event in TEXT_STREAM[1:]:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    relay.channel(Upstream(told))
    relay.call(chat(stream=True))
    assert (row().noted_micros, row().actual_micros) == (208, 280)


def test_a_silent_upstream_leaves_blank_lines_between_the_frames(relay) -> None:
    client = Client()

    async def pauses(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(TEXT_STREAM[0])
        await talk.say(chunk(b'data: {"id": '))  # a frame that is not whole is not broken up
        await client.kept_waiting()
        await talk.say(chunk(b'"x", "choices": []}\n\n'))
        for event in TEXT_STREAM[1:]:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    relay.channel(Upstream(pauses))
    relay.call(chat(stream=True), client=client)
    assert b'data: {"id": "x", "choices": []}\n\n' in client.body
    assert b"\n\n\n" in client.body
    assert client.body.endswith(b"data: [DONE]\n\n")


def test_signs_of_life_before_the_first_event_are_not_kept(relay) -> None:
    async def hums(talk: Talk) -> None:
        await talk.say(STREAM, chunk(b": hum\n\n" * 1_000))
        for event in TEXT_STREAM:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    relay.channel(Upstream(hums))
    client = relay.call(chat(stream=True))
    assert client.body.startswith(b"data:")
    assert relay.spent == 280


async def drips(talk: Talk) -> None:
    await talk.say(STREAM)
    while not talk.reader.at_eof():
        await talk.event(delta("x"))
        hurry(10)
        await asyncio.sleep(0.001)


async def falls_silent(talk: Talk) -> None:
    await talk.say(STREAM)
    await talk.event(delta("x"))
    await talk.outlasts()


@pytest.mark.parametrize(("behave", "beats"), [(drips, False), (falls_silent, True)])
def test_a_stream_that_never_ends_is_ended(relay, behave, beats) -> None:
    relay.channel(Upstream(behave))
    client = relay.call(chat(stream=True))
    assert (b'"error"' in client.body, b"\n\n\n" in client.body) == (True, beats)
    assert row().outcome == "cut"


def test_a_frame_that_never_ends_is_not_held_for_ever(relay, monkeypatch) -> None:
    monkeypatch.setattr(sse, "LARGEST_FRAME_BYTES", 100_000)

    async def endless(talk: Talk) -> None:
        await talk.say(STREAM)
        await talk.event(delta("x"))
        while True:
            await talk.say(chunk(b"data: " + b"x" * 65536))

    relay.channel(Upstream(endless))
    assert b'"error"' in relay.call(chat(stream=True)).body


def test_a_compressed_stream_is_read(relay) -> None:
    text = b"".join(
        b"data: %s\n\n" % event.encode() for event in ('{"choices": [{"delta": {"content": "x"}}]}', "[DONE]")
    )
    packed = gzip.compress(text)

    async def behave(talk: Talk) -> None:
        await talk.say(head(content_type="text/event-stream", content_encoding="gzip", content_length=str(len(packed))))
        await talk.say(packed[:7], packed[7:])

    relay.channel(Upstream(behave))
    client = relay.call(chat(stream=True))
    assert (client.body, "content-encoding" in client.headers) == (text, False)


def test_a_client_that_reads_slowly_stops_the_upstream(relay) -> None:
    """Only so much is read ahead of it: neither a thread nor memory is its."""
    written = 0
    may_read = asyncio.Event()

    async def pours(talk: Talk) -> None:
        nonlocal written
        await talk.say(STREAM)
        while not may_read.is_set():
            await talk.event(delta("x" * 65536))
            written += 65536
        await talk.event("[DONE]")
        await talk.say(LAST_CHUNK)

    async def reads(client: Client) -> None:
        if client.sent:
            await may_read.wait()

    async def work() -> Client:
        client = Client(reads=reads)
        call = asyncio.create_task(relay.ask(chat(stream=True), client=client))
        seen = -1
        while seen != written or not written:  # until the upstream waits for us
            seen = written
            await asyncio.sleep(0.05)
        assert written < 32 * 1024 * 1024
        may_read.set()
        return await call

    relay.channel(Upstream(pours))
    assert relay.run(work).body.endswith(b"data: [DONE]\n\n")


def test_what_comes_after_the_end_is_not_passed_on(relay) -> None:
    relay.channel(Upstream(streams(*TEXT_STREAM, delta("more"))))
    assert relay.call(chat(stream=True)).body.endswith(b"data: [DONE]\n\n")
