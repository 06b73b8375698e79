"""What goes to an upstream, what comes back, and what each fault says about it: against real sockets."""

import asyncio
import socket
import threading
import zlib
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from adapters.base import ErrorKind, UpstreamError
from common.outgoing import lookup
from relay.wire import resolving, upstream
from relay.wire.upstream import Outgoing, UpstreamReply
from tests.relay.upstreams import LAST_CHUNK, Behaviour, Talk, Upstream, answers, chunk, head

pytestmark = pytest.mark.once


def run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    async def whole() -> Any:
        try:
            return await work()
        finally:
            await upstream.close()

    return asyncio.run(whole())


def outgoing(url: str, **changed: Any) -> Outgoing:
    return Outgoing(**{"url": url, "headers": {"x-test": "1"}, "body": b"{}", "connect_seconds": 5.0, **changed})


async def read(reply: UpstreamReply) -> bytes:
    pieces = []
    while piece := await reply.read():
        pieces.append(piece)
    return b"".join(pieces)


async def asked(*behaviours: Behaviour, times: int = 1) -> tuple[list[bytes], Upstream]:
    """The bodies of so many answers, one after the other."""
    async with Upstream(*behaviours) as heard:
        bodies = []
        for _ in range(times):
            reply = await upstream.post(outgoing(heard.url + "/v1/x?y=%2F"))
            bodies.append(await read(reply))
            reply.close()
        return bodies, heard


def fault_of(*behaviours: Behaviour) -> UpstreamError:
    with pytest.raises(UpstreamError) as raised:
        run(lambda: asked(*behaviours))
    return raised.value


async def resets(talk: Talk) -> None:
    talk.reset()


async def closes(talk: Talk) -> None:
    talk.writer.close()


def says(*pieces: bytes) -> Behaviour:
    """These bytes, and the end of the connection."""

    async def behave(talk: Talk) -> None:
        await talk.say(*pieces)
        talk.writer.close()

    return behave


def test_a_request_goes_out_as_it_is_and_says_little_of_us() -> None:
    _, heard = run(lambda: asked(answers({})))
    head_sent, _, body = heard.requests[0].partition(b"\r\n\r\n")
    lines = head_sent.split(b"\r\n")
    assert lines[0] == b"POST /v1/x?y=%2F HTTP/1.1"
    assert {line.split(b":")[0] for line in lines[1:]} == {
        b"Host",
        b"x-test",
        b"accept-encoding",
        b"user-agent",
        b"Content-Length",
    }
    assert b"accept-encoding: identity" in lines
    assert body == b"{}"


def test_a_connection_is_kept_for_the_next_call_and_nothing_else_of_it_is() -> None:
    bodies, heard = run(lambda: asked(answers(b"one", set_cookie="a=b"), answers(b"two"), times=2))
    assert (bodies, heard.connections) == ([b"one", b"two"], 1)
    assert b"Cookie" not in heard.requests[1]


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async def work() -> tuple[int, int]:
        async with Upstream(answers(b"", "307 Temporary Redirect", location="/elsewhere")) as heard:
            reply = await upstream.post(outgoing(heard.url))
            reply.close()
            return reply.status, len(heard.requests)

    assert run(work) == (307, 1)


def test_no_proxy_of_the_environment_is_used(monkeypatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert run(lambda: asked(answers(b"direct")))[0] == [b"direct"]


def test_a_large_body_arrives_whole() -> None:
    async def work() -> bytes:
        async with Upstream(answers(b"")) as heard:
            body = b"0123456789abcdef" * 200_000
            (await upstream.post(outgoing(heard.url, body=body))).close()
            return heard.requests[0].partition(b"\r\n\r\n")[2] == body

    assert run(work)


def test_a_refused_connection_surely_accepted_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    sent: list[bool] = []
    with pytest.raises(UpstreamError) as raised:
        run(lambda: upstream.post(outgoing(f"http://127.0.0.1:{port}", on_sent=lambda: sent.append(True))))
    assert (raised.value.kind, sent) == (ErrorKind.TRANSIENT, [])


def test_a_name_that_cannot_be_resolved_surely_accepted_nothing(monkeypatch) -> None:
    def nowhere(*_: object, **__: object) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(resolving.socket, "getaddrinfo", nowhere)
    with pytest.raises(UpstreamError) as raised:
        run(lambda: upstream.post(outgoing("http://upstream.example")))
    assert raised.value.kind is ErrorKind.TRANSIENT


def test_a_lookup_that_hangs_ends_with_the_time_to_connect_and_keeps_only_its_own_seat(monkeypatch) -> None:
    free = threading.Event()
    looked_up = socket.getaddrinfo

    def hangs(host: str, *arguments: Any, **options: Any) -> Any:
        if host == "slow.example":
            free.wait()
        return looked_up("127.0.0.1", *arguments, **options)

    monkeypatch.setattr(resolving.socket, "getaddrinfo", hangs)

    async def work() -> list[bytes]:
        with pytest.raises(UpstreamError) as raised:
            await upstream.post(outgoing("http://slow.example", connect_seconds=0.05))
        assert (raised.value.kind, raised.value.code) == (ErrorKind.TRANSIENT, "time")
        async with Upstream(answers(b"here")) as heard:
            reply = await upstream.post(outgoing(f"http://quick.example:{heard.port}"))
            return [await read(reply)]

    try:
        assert run(work) == [b"here"]
    finally:
        free.set()
    assert lookup.OPERATORS.each > 1


def test_a_handshake_that_fails_surely_accepted_nothing() -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def work() -> None:
        async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
            await upstream.post(outgoing("https://127.0.0.1:{1}".format(*server.sockets[0].getsockname())))

    with pytest.raises(UpstreamError) as raised:
        run(work)
    assert raised.value.kind is ErrorKind.TRANSIENT


UNKNOWN: dict[str, Behaviour] = {
    "reset after the request": resets,
    "closed after the request": closes,
    "garbage": says(b"\x16\x03\x01 nonsense\r\n\r\n"),
    "an endless header": says(b"HTTP/1.1 200 OK\r\nx: ", b"a" * 100_000),
    "shorter than its length": says(head(content_length="100"), b"short"),
    "chunks that break off": says(head(transfer_encoding="chunked"), chunk(b"one"), b"ff\r\nhal"),
    "no chunk at all": says(head(transfer_encoding="chunked"), b"zz\r\n"),
    "an unknown compression": answers(b"x", content_encoding="br"),
    "a bad compression": answers(b"nonsense", content_encoding="gzip"),
    "a compression that breaks off": answers(zlib.compress(b"a" * 1000)[:-8], content_encoding="deflate"),
}


@pytest.mark.parametrize("behave", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_after_the_request_went_out_a_fault_leaves_open_whether_it_was_accepted(behave: Behaviour) -> None:
    assert fault_of(behave).kind is ErrorKind.AMBIGUOUS


def test_an_answer_longer_than_its_length_is_no_next_answer() -> None:
    bodies, heard = run(
        lambda: asked(says(head(content_length="3"), b"one" + head(content_length="4") + b"fake"), times=2)
    )
    assert (bodies, heard.connections) == ([b"one", b"one"], 2)


def test_an_answer_that_comes_compressed_although_none_was_asked_for_is_read() -> None:
    packer = zlib.compressobj(wbits=31)
    text = b"data: {}\n\n" * 100_000
    packed = packer.compress(text) + packer.flush()
    assert run(lambda: asked(answers(packed, content_encoding="gzip")))[0] == [text]


def test_a_reader_that_stops_stops_the_upstream() -> None:
    """Whatever the upstream has to say, only so much of it is read ahead."""

    async def work() -> bool:
        written = 0

        async def pours(talk: Talk) -> None:
            nonlocal written
            await talk.say(head(transfer_encoding="chunked"))
            while True:
                await talk.say(chunk(b"x" * 65536))
                written += 65536

        async with Upstream(pours) as heard:
            reply = await upstream.post(outgoing(heard.url))
            await reply.read()
            seen = -1
            while seen != written:  # until the upstream waits for us
                seen = written
                await asyncio.sleep(0.05)
            reply.close()
            return written < 64 * 1024 * 1024

    assert run(work)


def test_closing_an_answer_closes_the_connection_at_once() -> None:
    async def work() -> None:
        left = asyncio.Event()

        async def goes_on(talk: Talk) -> None:
            await talk.say(head(transfer_encoding="chunked"), chunk(b"one"))
            await talk.gone()
            left.set()

        async with Upstream(goes_on) as heard:
            reply = await upstream.post(outgoing(heard.url))
            assert await reply.read() == b"one"
            reply.close()
            await left.wait()

    run(work)


def test_a_call_that_ends_before_the_last_bytes_reads_them_to_keep_the_connection() -> None:
    async def done(talk: Talk) -> None:
        await talk.say(head(transfer_encoding="chunked"), chunk(b"done"))
        await talk.say(LAST_CHUNK)

    async def work() -> int:
        async with Upstream(done) as heard:
            for _ in range(2):
                reply = await upstream.post(outgoing(heard.url))
                await reply.read()
                await reply.finish()
            return heard.connections

    assert run(work) == 1
