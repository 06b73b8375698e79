"""What an answer holds beside its body is capped, and a body ends with the time of the whole exchange."""

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from socket import socket

import pytest

from common.outbound import Failed, Limits, UrlPolicy, open_url
from common.outgoing.connections import MAX_HEAD_BYTES, MAX_INTERIMS
from common.outgoing.dial import Deadline
from common.outgoing.lookup import customer
from common.outgoing.wire import bounded
from tests import deadlines
from tests.adapters.raw_server import raw_server
from tools.children import PATIENCE

LOOPBACK = UrlPolicy(allow_networks=(ip_network("127.0.0.0/8"),))
CHOOSER = customer("1")
LIMITS = Limits(max_bytes=1_000_000, total_seconds=PATIENCE, connect_seconds=PATIENCE)
FINAL = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LONG = b"x" * (MAX_HEAD_BYTES // 8)


def fetch(*said: bytes, for_ever: bytes = b"") -> tuple[int, bytes]:
    """What comes of an answer in these bytes, the last of them sent until nobody listens any more."""

    def behave(connection: socket, _: bytes) -> None:
        connection.sendall(b"".join(said))
        while for_ever:
            connection.sendall(for_ever)

    with raw_server(behave) as server, open_url(server.url, policy=LOOPBACK, limits=LIMITS, chosen_by=CHOOSER) as reply:
        return reply.status, b"".join(reply.chunks)


def refused(fetching: Callable[[], object]) -> Failed:
    with pytest.raises(Failed) as caught:
        fetching()
    assert (caught.value.reason, caught.value.was_sent) == ("network", True)
    return caught.value


@pytest.mark.parametrize("interim", ["100 Continue", "102 Processing", "103 Early Hints", "199 Whatever"])
def test_ten_interim_answers_are_skipped_and_no_more(interim: str) -> None:
    said = f"HTTP/1.1 {interim}\r\nLink: </a.css>\r\n\r\n".encode()
    assert MAX_INTERIMS == 10
    assert fetch(said * 10, FINAL) == (200, b"ok")
    refused(lambda: fetch(said * 11, FINAL))
    assert refused(lambda: fetch(for_ever=said)).words == "the answer is malformed"


def test_another_protocol_that_nobody_asked_for_is_no_success() -> None:
    switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
    assert fetch(switched, FINAL) == (101, b"")


def test_a_head_is_capped_however_it_is_cut() -> None:
    assert fetch(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 90, b"Content-Length: 2\r\n\r\nok") == (200, b"ok")
    for head in [
        (b"HTTP/1.1 200 ", LONG * 9, b"\r\nContent-Length: 0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: ", LONG * 9, b"\r\nContent-Length: 0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 200, b"Content-Length: 0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"X: " + LONG + b"\r\n", b"Y: " + LONG * 7 + b"\r\nContent-Length: 0\r\n\r\n"),
        (*(b"HTTP/1.1 103 Early Hints\r\nX: " + LONG + b"\r\n\r\n" for _ in range(9)), FINAL),
    ]:
        refused(lambda head=head: fetch(*head))  # type: ignore[misc]


def test_chunks_of_one_byte_are_a_body_and_their_extensions_are_capped() -> None:
    assert fetch(CHUNKED, b"0001\r\na\r\n" * 20_000, b"0\r\n\r\n") == (200, b"a" * 20_000)
    named = b"1;" + b"x" * 1000 + b"\r\na\r\n"
    assert fetch(CHUNKED, named * 20, b"0\r\n\r\n") == (200, b"a" * 20)
    refused(lambda: fetch(CHUNKED, for_ever=named))
    refused(lambda: fetch(CHUNKED, b"1;" + LONG * 9 + b"\r\na\r\n0\r\n\r\n"))


def test_a_trailer_is_capped_whatever_came_before_it() -> None:
    body = b"100000\r\n" + b"a" * 0x10_0000 + b"\r\n0\r\n"
    limits = Limits(max_bytes=1 << 30, total_seconds=PATIENCE, connect_seconds=PATIENCE)

    def ended(trailer: bytes, *, for_ever: bool = False) -> int:
        def behave(connection: socket, _: bytes) -> None:
            connection.sendall(CHUNKED + body + trailer)
            while for_ever:
                connection.sendall(trailer)

        with (
            raw_server(behave) as server,
            open_url(server.url, policy=LOOPBACK, limits=limits, chosen_by=CHOOSER) as reply,
        ):
            return sum(map(len, reply.chunks))

    assert ended(b"X: y\r\n" * 20 + b"\r\n") == 0x10_0000
    refused(lambda: ended(b"X: y\r\n", for_ever=True))


def test_what_is_buffered_when_the_time_is_over_is_given_up() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"one"
        deadlines.end()
        yield b"two"

    with Deadline(PATIENCE) as deadline:
        chunks = bounded(pieces(), 100, deadline)
        assert next(chunks) == b"one"
        with pytest.raises(Failed, match="took too long"):
            next(chunks)
