"""Long answers of Django's, which are made while they are sent: one real gunicorn."""

import http.client
import json
import re
import socket
from contextlib import closing

import pytest

from tools.children import wait_until

HEAD = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
FILLS_BUFFERS = 4096


def asked(dial, query: str, *, method: str = "GET", **options) -> socket.socket:
    return dial(f"{method} /streamed?lines={query}".encode() + HEAD, **options)


def answer_of(connection: socket.socket) -> tuple[http.client.HTTPResponse, bytes]:
    with closing(http.client.HTTPResponse(connection)) as response:
        response.begin()
        return response, response.read()


def made_by(front, fewest: int) -> int:
    """How many lines the first stream had made that was closed after so many at least."""

    def found() -> list[int]:
        counts = map(int, re.findall(r"closed after (\d+) lines", front.logs()))
        return [count for count in counts if count >= fewest]

    return wait_until(found)[0]


def test_a_long_answer_arrives_whole_and_in_order(dial):
    response, body = answer_of(asked(dial, "100000"))
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert body == b"".join(b"%08d\n" % number for number in range(1, 100_001))


def test_a_short_one_has_a_length(dial):
    response, body = answer_of(asked(dial, "3"))
    assert (response.headers["Content-Length"], body) == ("27", b"00000001\n00000002\n00000003\n")


def test_head_has_no_body(dial):
    response, body = answer_of(asked(dial, "endless", method="HEAD"))
    assert (response.status, body) == (200, b"")


def test_a_client_that_leaves_ends_what_has_no_end(front, dial):
    connection = asked(dial, "endless", receive_buffer=FILLS_BUFFERS)
    for _ in range(300):
        assert connection.recv(FILLS_BUFFERS)
    connection.close()
    assert made_by(front, fewest=20_000)


def test_more_slow_readers_than_threads_hold_up_nobody(front, dial):
    readers = [asked(dial, "endless", receive_buffer=FILLS_BUFFERS) for _ in range(20)]
    for reader in readers:
        assert reader.recv(16) == b"HTTP/1.1 200 OK\r"
    assert front.client().get("/v1/echo").status_code == 200


def test_a_fault_on_the_way_cuts_the_answer_and_is_in_the_log(front, dial):
    with pytest.raises(http.client.IncompleteRead):
        answer_of(asked(dial, "50000&falls"))
    assert "database unavailable: the database is away" in front.logs()


def test_a_fault_before_the_first_piece_is_an_answer(dial):
    response, body = answer_of(asked(dial, "10&falls"))
    assert (response.status, json.loads(body)["error"]["type"]) == (503, "TASK_SERVICE_UNAVAILABLE")
