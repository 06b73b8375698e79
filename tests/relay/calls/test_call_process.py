"""Relayed calls of a real web process: a client that leaves, and a process that stops, at the server's own hands."""

import json
import signal
import socket
import threading
from contextlib import closing

import psutil
import pytest

from tests.adapters.raw_server import raw_server
from tools.children import PATIENCE, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.once]

CATALOG = """
version: 1
groups:
  - name: text
    platform: openai
    channels: [{{base_url: "{url}/v1", credentials: {{api_key: sk-upstream-1234}}, priority: 10}}]
    prices: {{"gpt-*": {{input: 2, output: 8}}}}
"""
USAGE = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
CHUNK = {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": None}], "usage": USAGE}
LAST = {**CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
LAST["usage"] = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
EVENT = b"data: " + json.dumps(CHUNK).encode() + b"\n\n"
BODY = json.dumps({"model": "gpt-5", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}).encode()


class Upstream:
    """Says the first event, and where it has a rest, that once it may go on. It knows when it was left."""

    def __init__(self) -> None:
        self.rest = b""
        self.goes_on, self.left = threading.Event(), threading.Event()

    def __call__(self, connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + EVENT)
        if self.rest:
            assert self.goes_on.wait(PATIENCE)
            connection.sendall(self.rest)
            return
        while connection.recv(65536):
            pass
        self.left.set()


@pytest.fixture
def upstream():
    behave = Upstream()
    with raw_server(behave) as server:
        yield behave, server


@pytest.fixture
def key(stack, upstream, tmp_path) -> str:
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG.format(url=upstream[1].url))
    stack.manage("load_catalog", str(path))
    stack.manage("create_account", "tester", "--credit", "10")
    return str(stack.manage_json("create_key", "tester", "--binding", "general", "--group", "text")["key"])


def opened(stack, key: str) -> socket.socket:
    """A connection on which the first event has come."""
    connection = socket.create_connection(("127.0.0.1", int(stack.environment["PORT"])), timeout=PATIENCE)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
    connection.sendall(head.encode() + BODY)
    received = b""
    while b"Hello" not in received:
        received += (piece := connection.recv(65536))
        assert piece, received
    assert received.startswith(b"HTTP/1.1 200 ")
    return connection


def usage(stack, key: str) -> dict[str, float]:
    return dict(stack.client(key).get("/v1/usage").json())


def is_abandoned(stack) -> bool:
    """Whether the web process has no connection of a client any more."""
    port = int(stack.environment["PORT"])
    return not [c for c in psutil.net_connections("tcp") if c.status == "ESTABLISHED" and c.laddr.port == port]


def test_a_client_that_leaves_pays_what_the_answer_costs(stack, upstream, key) -> None:
    stack.start_web()
    upstream[0].rest = b"data: " + json.dumps(LAST).encode() + b"\n\ndata: [DONE]\n\n"
    with closing(opened(stack, key)):
        pass
    wait_until(lambda: is_abandoned(stack))
    upstream[0].goes_on.set()
    wait_until(lambda: usage(stack, key)["held"] == 0)
    assert usage(stack, key)["total"] == {"calls": 1, "cost": 0.0006}
    assert stack.manage_json("check_ledger")["breaches"] == []


def test_a_client_that_takes_nothing_of_its_answer_pays_what_it_costs(stack, upstream, key) -> None:
    """The front hangs up on it, and the stream is read to its end all the same."""
    stack.start_web(DJANGO_SETTINGS_MODULE="tests.front.server.stalling")
    upstream[0].rest = EVENT * 50_000 + b"data: " + json.dumps(LAST).encode() + b"\n\ndata: [DONE]\n\n"
    with closing(opened(stack, key)):
        upstream[0].goes_on.set()
        wait_until(lambda: usage(stack, key)["held"] == 0)
    assert usage(stack, key)["total"] == {"calls": 1, "cost": 0.0006}
    assert stack.manage_json("check_ledger")["breaches"] == []


def test_a_call_whose_client_has_left_is_settled_by_the_process_that_stops(stack, upstream, key) -> None:
    web = stack.start_web(GUNICORN_CMD_ARGS="")
    with closing(opened(stack, key)):
        pass
    wait_until(lambda: is_abandoned(stack))
    web.process.send_signal(signal.SIGTERM)
    assert upstream[0].left.wait(PATIENCE)
    assert web.process.wait(PATIENCE) == 0
    stack.start_web()
    told = usage(stack, key)
    assert (told["held"], told["total"]) == (0, {"calls": 1, "cost": 0.00024})
    assert stack.manage_json("check_ledger")["breaches"] == []


def test_a_stream_of_a_process_that_stops_ends_with_an_error_and_is_settled(stack, upstream, key) -> None:
    web = stack.start_web(GUNICORN_CMD_ARGS="")
    with closing(opened(stack, key)) as connection:
        web.process.send_signal(signal.SIGTERM)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert b'"error"' in received
    assert b"The service is stopping." in received
    assert web.process.wait(PATIENCE) == 0
    assert upstream[0].left.wait(PATIENCE)
    assert "nclosed" not in web.text()
    stack.start_web()
    told = usage(stack, key)
    assert (told["held"], told["total"]) == (0, {"calls": 1, "cost": 0.00024})
    assert stack.manage_json("check_ledger")["breaches"] == []
