"""Connections kept for the next request that buys nothing, on real sockets: when they are used, and when not."""

import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack
from ipaddress import ip_network

import pytest

from adapters.base import Connection, UpstreamError
from adapters.kit import http
from adapters.kit.http import HttpCall
from common.outbound import AddressRefused, Limits, UrlPolicy, open_url
from common.outgoing import kept_connections
from common.outgoing.kept_connections import kept
from common.outgoing.lookup import Chooser, provider
from tests.adapters.making import connection_to
from tests.adapters.raw_server import answer, raw_server, read_request
from tools.children import PATIENCE

LOOPBACK = UrlPolicy(allow_networks=(ip_network("127.0.0.0/8"),))
LIMITS = Limits(max_bytes=1_000_000, total_seconds=PATIENCE, connect_seconds=PATIENCE)
ONE, OTHER = provider("https://one.example.com"), provider("https://other.example.com")
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"


def saying(*answers: bytes, for_ever: bool = True) -> Callable[[socket.socket, bytes], None]:
    """An answer a request over the same connection: the last one for ever, or it hangs up after that."""

    def behave(connection: socket.socket, _: bytes) -> None:
        for said in answers[: None if not for_ever else -1]:
            connection.sendall(said)
            read_request(connection)
        while for_ever:
            connection.sendall(answers[-1])
            if not read_request(connection):
                return

    return behave


def ask(connection: Connection, *, paid: bool = False) -> object:
    body, method = (b"{}", "POST") if paid else (None, "GET")
    return http.call_json(HttpCall(method=method, path="/x", codes={}.get, paid=paid, body=body), connection)


def fetch(url: str, *, chosen_by: Chooser = ONE, policy: UrlPolicy = LOOPBACK, **options: object) -> bytes:
    with open_url(url, policy=policy, limits=LIMITS, chosen_by=chosen_by, keeps=True, **options) as reply:  # type: ignore[arg-type]
        return b"".join(reply.chunks)


@pytest.mark.parametrize("said", [WHOLE, CHUNKED])
def test_questions_share_a_connection_whatever_their_credential_and_paid_calls_never_do(said: bytes) -> None:
    with raw_server(saying(said)) as server:
        first, second = (connection_to(server.url, credentials={"api_key": key}) for key in ("a", "b"))
        for connection in (first, second, first):
            assert ask(connection) == {}
        assert len(server.requests) == 1
        for _ in range(2):
            assert ask(first, paid=True) == {}
        assert len(server.requests) == 3
        assert all(b"\r\nConnection: close\r\n" in request for request in server.requests[1:])
        ask(first)
        assert len(server.requests) == 3


def test_a_server_that_hangs_up_meanwhile_costs_nothing() -> None:
    with raw_server(saying(WHOLE, for_ever=False), answer(b"{}")) as server:
        connection = connection_to(server.url)
        for connections in (1, 2, 3):  # it hangs up when it gets the second request, then after each answer
            assert ask(connection) == {}
            assert len(server.requests) == connections


def test_what_has_begun_to_answer_is_not_asked_again() -> None:
    def behave(connection: socket.socket, request: bytes) -> None:
        saying(WHOLE, for_ever=False)(connection, request)
        connection.sendall(b"HTTP/1.1 200 OK\r\nX")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with raw_server(behave) as server:
        connection = connection_to(server.url)
        assert ask(connection) == {}
        with pytest.raises(UpstreamError):
            ask(connection)
        assert len(server.requests) == 1


def test_a_connection_with_more_in_it_than_the_answer_is_dropped() -> None:
    for said in (WHOLE + b"more", WHOLE.replace(b"{}", b"{}{}"), b"HTTP/1.0 " + WHOLE[9:]):
        with raw_server(saying(said)) as server:
            connection = connection_to(server.url)
            assert [ask(connection), ask(connection)] == [{}, {}]
            assert len(server.requests) == 2, said


def test_a_connection_whose_answer_was_not_read_is_dropped() -> None:
    late = saying(WHOLE.removesuffix(b"{}"), b"{}" + WHOLE)
    with raw_server(late, saying(WHOLE)) as server:
        connection = connection_to(server.url)
        for connections in (1, 2):
            with http.calling(HttpCall(method="GET", path="/x", codes={}.get), connection) as reply:
                assert (reply.status, len(server.requests)) == (200, connections)


def test_an_address_is_looked_up_and_judged_again_after_the_age(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = ["127.0.0.1", "127.0.0.1", "10.0.0.1"]

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return [answers[len(asked) - 1]]

    with raw_server(saying(WHOLE)) as server:
        url = f"http://films.example.com:{server.port}/"
        for _ in range(3):
            fetch(url, resolve=resolve)
        assert (len(asked), len(server.requests)) == (1, 1)
        monkeypatch.setattr(kept_connections, "IDLE_SECONDS", -1.0)
        fetch(url, resolve=resolve)
        monkeypatch.setattr(kept_connections, "IDLE_SECONDS", PATIENCE)
        monkeypatch.setattr(kept_connections, "LONGEST_SECONDS", -1.0)
        with pytest.raises(AddressRefused):
            fetch(url, resolve=resolve)
        assert (len(asked), len(server.requests)) == (3, 2)


def test_who_judges_otherwise_or_for_somebody_else_dials_anew() -> None:
    with raw_server(saying(WHOLE)) as server:
        ask(connection_to(server.url))
        with pytest.raises(AddressRefused):
            fetch(server.url, policy=UrlPolicy())
        for chosen_by in (ONE, OTHER, ONE):
            fetch(server.url, chosen_by=chosen_by)
        assert len(server.requests) == 3
        with open_url(server.url, policy=LOOPBACK, limits=LIMITS, chosen_by=ONE) as reply:
            assert list(reply.chunks) == [b"{}"]
        assert len(server.requests) == 4  # a customer's address, or a callback: fresh, and left by nobody


@pytest.mark.parametrize("bound", ["MOST", "MOST_OF_ORIGIN"])
def test_few_connections_are_kept(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(kept_connections, bound, 2)
    with raw_server(saying(WHOLE)) as server:
        for connections, kept_then in ((4, 2), (6, 2)):
            with ExitStack() as together:
                for _ in range(4):
                    call = HttpCall(method="GET", path="/x", codes={}.get)
                    reply = together.enter_context(http.calling(call, connection_to(server.url)))
                    assert list(reply.chunks) == [b"{}"]
            assert (len(server.requests), len(kept._idle)) == (connections, kept_then)
