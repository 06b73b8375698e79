"""A real front with three places: who gets one, who gives his up, and who is turned away."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.databases import Databases
from tests.front.conftest import SETTINGS
from tests.front.server.talking import HOST, is_closed, said
from tests.processes import TestStack
from tools.children import PATIENCE, wait_until
from tools.stack import GUNICORN

ROOM = 3
ASK = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
UPLOAD = b"POST /v1/echo HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
Dial = Callable[..., socket.socket]


@pytest.fixture(scope="module")
def front(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestStack]:
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("crowd"))
        stack.start_web(MAX_CONNECTIONS=str(ROOM), **SETTINGS)
        yield stack
        stack.stop()


def busy(dial: Dial) -> socket.socket:
    """An upload that the front waits for."""
    connection = dial(UPLOAD)
    connection.settimeout(PATIENCE)
    assert connection.recv(len(CONTINUE)) == CONTINUE
    return connection


def answer_to_another(dial: Dial) -> int:
    with dial(ASK) as connection:
        return said(connection).status


def test_when_all_are_busy_another_gets_503_in_json_and_nobody_is_disturbed(front, dial):
    uploads = [busy(dial) for _ in range(ROOM)]
    connection = dial(ASK)
    answer = said(connection)
    assert (answer.status, answer.error["type"]) == (503, "TASK_SERVICE_UNAVAILABLE")
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["X-Request-Id"]
    assert is_closed(connection)
    for upload in uploads:
        upload.sendall(b"ab")
        assert json.loads(said(upload).body)["length"] == 2
        upload.close()
    assert wait_until(lambda: answer_to_another(dial) == 200)


def test_when_full_of_half_heads_one_gives_way(dial):
    halves = [dial(b"GET /healthz HT") for _ in range(ROOM)]
    assert answer_to_another(dial) == 200
    assert any(map(is_closed_now, halves))


def test_when_full_of_idle_connections_one_gives_way(dial):
    idle = [dial(ASK) for _ in range(ROOM)]
    assert [said(connection).status for connection in idle] == [200] * ROOM
    assert wait_until(lambda: answer_to_another(dial) == 200)  # the last answer may still be under way to its end
    assert any(map(is_closed_now, idle))


def is_closed_now(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_who_is_refused_takes_no_place(dial):
    uploads = [busy(dial) for _ in range(ROOM - 1)]
    for _ in range(ROOM):  # none of them leaves
        assert said(dial(b"GARBAGE\r\n\r\n")).status == 400
    assert answer_to_another(dial) == 200
    for upload in uploads:
        upload.sendall(b"ab")
        assert said(upload).status == 200


def test_the_limit_of_open_files_bounds_the_places(stack):
    web = stack.start("web", "sh", "-c", f"ulimit -n {512 + ROOM} && exec {' '.join(GUNICORN)}", **SETTINGS)
    web.wait_for_http(f"{stack.base_url}/healthz")
    web.wait_for_line(f"MAX_CONNECTIONS is 10000, but the limit of open files .* allows {ROOM}")
    with ExitStack() as opened:

        def dial(sent: bytes) -> socket.socket:
            connection = opened.enter_context(socket.create_connection(("127.0.0.1", int(stack.environment["PORT"]))))
            connection.sendall(sent)
            return connection

        for _ in range(ROOM):
            busy(dial)
        assert said(dial(ASK)).status == 503
