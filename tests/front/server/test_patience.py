"""A real front that waits a second for a head and for a request: who is closed, and who is not."""

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread

import pytest

from tests.databases import Databases
from tests.front.server.talking import HOST, is_closed, said
from tests.front.sizes import LARGE
from tests.front.test_front import lines_of
from tests.processes import PATIENT, TestStack
from tools.children import wait_until

pytestmark = pytest.mark.slow

Dial = Callable[..., socket.socket]
HASTY = {
    "DJANGO_SETTINGS_MODULE": "tests.front.server.hasty",
    "GUNICORN_CMD_ARGS": PATIENT["GUNICORN_CMD_ARGS"] + " --keep-alive 1",
}


@pytest.fixture(scope="module")
def front(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestStack]:
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("hasty"))
        stack.start_web(**HASTY)
        yield stack
        stack.stop()


def drip(connection: socket.socket) -> None:
    with suppress(OSError):
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)


def begun(dial: Dial, sent: bytes, *, receive_buffer: int = 0) -> socket.socket:
    """A connection whose first line of an answer is here. A busy machine may be too late with `sent`: then again."""

    def attempt() -> socket.socket | None:
        with suppress(OSError):
            connection = dial(sent, receive_buffer=receive_buffer)
            return connection if connection.recv(5, socket.MSG_PEEK) else None
        return None

    return wait_until(attempt)


def test_half_a_head_is_closed(dial):
    assert is_closed(dial(b"GET /healthz HTTP/1.1\r\nHost: 127"))


def test_a_head_that_drips_is_closed(dial):
    connection = dial(b"GET /healthz HTTP/1.1\r\nX-Drip: ")
    dripping = Thread(target=drip, args=[connection])
    dripping.start()
    assert is_closed(connection)
    dripping.join()


def test_a_connection_that_never_says_anything_is_closed(dial):
    assert is_closed(dial())


def test_a_connection_is_closed_some_time_after_its_answer(dial):
    connection = begun(dial, b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    assert said(connection).status == 200
    assert is_closed(connection)


def test_half_a_head_behind_a_request_is_closed(dial):
    connection = begun(dial, b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\nGET /healthz HT")
    assert said(connection).status == 200
    assert is_closed(connection)


def test_an_upload_and_a_download_in_progress_stay_open(dial):
    expecting = HOST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    upload = begun(dial, b"POST /v1/echo HTTP/1.1\r\n" + expecting)
    download = begun(dial, b"GET /v1/large HTTP/1.1\r\n" + HOST + b"\r\n", receive_buffer=4096)
    for _ in range(3):  # each came later and is closed before
        assert is_closed(dial())
        assert is_closed(dial(b"GET"))
    upload.sendall(b"ab")
    assert json.loads(said(upload).body)["length"] == 2
    assert len(said(download).body) == LARGE


def test_half_a_head_is_closed_where_nothing_is_configured(stack):
    stack.start_web()
    with socket.create_connection(("127.0.0.1", int(stack.environment["PORT"]))) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127")
        assert is_closed(connection)


def test_a_client_that_takes_nothing_of_its_answer_is_cut_off(stack):
    stack.start_web(DJANGO_SETTINGS_MODULE="tests.front.server.stalling")
    head = b"GET /v1/large HTTP/1.1\r\nX-Request-Id: stalled-1\r\n" + HOST + b"\r\n"
    with socket.create_connection(("127.0.0.1", int(stack.environment["PORT"]))) as connection:
        connection.sendall(head)
        assert lines_of(stack, "stalled-1")  # the request has ended, although nobody reads
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            said(connection)
