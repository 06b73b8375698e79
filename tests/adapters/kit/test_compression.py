"""Answers and results that come compressed although identity was asked for."""

import gzip
import json
import socket
import zlib

import pytest

from adapters.base import Accepted, ErrorKind, Output, UpstreamError
from adapters.kit import http, outputs
from adapters.kit.compression import plain
from adapters.registry import ADAPTERS
from common.outbound import Failed, Reply
from common.outgoing.dial import Deadline
from common.outgoing.wire import CHUNK_BYTES
from tests import deadlines
from tests.adapters.making import connection_to, video_request, video_target
from tests.adapters.raw_server import Behaviour, answer, raw_server
from tools.children import PATIENCE

adapter = ADAPTERS["ark_content_tasks"]
UPSTREAM = adapter.build(video_request(), video_target())
TAKEN = json.dumps({"id": "cgt-1"}).encode()


def compressed(body: bytes, status: str = "200 OK", coding: str = "gzip") -> Behaviour:
    return answer(body, status=status, headers={"Content-Encoding": coding})


def refused(behaviour: Behaviour) -> UpstreamError:
    with raw_server(behaviour) as server, pytest.raises(UpstreamError) as caught:
        adapter.submit(UPSTREAM, connection_to(server.url))
    return caught.value


def test_a_compressed_answer_is_read() -> None:
    bodies = {"gzip": gzip.compress(TAKEN), " GZIP": gzip.compress(TAKEN), "deflate": zlib.compress(TAKEN)}
    for coding, body in bodies.items():
        with raw_server(compressed(body, coding=coding)) as server:
            accepted = adapter.submit(UPSTREAM, connection_to(server.url))
        assert isinstance(accepted, Accepted), coding
        assert accepted.handle["id"] == "cgt-1"
        assert b"Accept-Encoding: identity" in server.requests[0]


def test_a_compressed_refusal_is_read() -> None:
    body = gzip.compress(json.dumps({"error": {"code": "AccountOverdueError"}}).encode())
    assert refused(compressed(body, "403 Forbidden")).kind is ErrorKind.QUOTA_EXHAUSTED


def test_an_answer_that_cannot_be_expanded_leaves_the_outcome_open() -> None:
    for body in (b"no gzip", gzip.compress(TAKEN)[:-9], b""):
        assert refused(compressed(body)).kind is ErrorKind.AMBIGUOUS, body


def test_what_an_answer_expands_to_is_capped() -> None:
    body = gzip.compress(b" " * (http.MAX_JSON_BYTES + 1) + TAKEN)
    error = refused(compressed(body))
    assert (error.kind, error.code) == (ErrorKind.AMBIGUOUS, "size")


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_nothing_is_read_after_the_end_of_the_compressed_stream(coding: str) -> None:
    """What follows for ever would exceed any cap."""
    body = gzip.compress(TAKEN) if coding == "gzip" else zlib.compress(TAKEN)

    def pour(connection: socket.socket, _: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n".encode()
        connection.sendall(head + body)
        while True:
            connection.sendall(b"x" * 65536)

    with raw_server(pour) as server:
        assert isinstance(adapter.submit(UPSTREAM, connection_to(server.url)), Accepted)


def test_a_second_member_is_not_expanded() -> None:
    with raw_server(compressed(gzip.compress(TAKEN) + gzip.compress(b"{" * 100))) as server:
        assert isinstance(adapter.submit(UPSTREAM, connection_to(server.url)), Accepted)


def test_input_that_expands_to_nothing_is_capped_too() -> None:
    empty_blocks = b"\x00\x00\x00\xff\xff" * 10_000

    def pour(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n\x78\x9c")
        while True:
            connection.sendall(empty_blocks)

    assert refused(pour).code == "size"


def test_expanding_ends_with_the_time_of_the_exchange() -> None:
    """One chunk from the network, which is there already, and a thousand out of it."""
    bomb = gzip.compress(b" " * CHUNK_BYTES * 1000)
    headers = {"Content-Encoding": "gzip"}
    with Deadline(PATIENCE) as deadline:
        chunks = plain(Reply(status=200, headers=headers, chunks=iter([bomb]), deadline=deadline), 1 << 40).chunks
        assert next(chunks).isspace()
        deadlines.end()
        with pytest.raises(Failed, match="took too long"):
            next(chunks)


def test_a_compressed_result_is_expanded_and_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    film = b"film" * 100_000
    with raw_server(compressed(gzip.compress(film))) as server:
        connection = connection_to(server.url)
        output = Output(index=0, kind="video", url=server.url)
        with adapter.open_output(output, connection) as chunks:
            assert b"".join(chunks) == film
        monkeypatch.setitem(outputs.MAX_OUTPUT_BYTES, "video", len(film) - 1)
        with pytest.raises(UpstreamError) as caught, adapter.open_output(output, connection) as chunks:
            list(chunks)
    assert caught.value.kind is ErrorKind.EMPTY_RESULT
