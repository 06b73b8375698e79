"""The sandbox's own controls, and what its socket takes."""

import os
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
import requests

from sandbox.server import Sandbox
from tests.sandbox.conftest import IMAGES, Client
from tools.children import PATIENCE, Child, wait_until
from tools.stack import MANAGE

COMMAND = [*MANAGE, "run_sandbox"]


def talk(sandbox, sent):
    """What the sandbox says to these bytes until it closes."""
    with socket.create_connection(("127.0.0.1", urlsplit(sandbox.url).port), timeout=PATIENCE) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_the_audit_counts_paid_jobs_by_prompt_and_reference(client):
    client.call(
        "POST",
        IMAGES,
        json={"model": "m", "prompt": "a fox"},
        headers={"X-Client-Request-Id": "call-1"},
    )
    client.image("a fox")
    client.video("a bird [held]")
    audit = client.call("GET", "/audit").json()
    assert (audit["jobs"], audit["canceled"], audit["open"]) == (3, 0, 1)
    assert audit["by_prompt"] == {"a fox": 2, "a bird [held]": 1}
    assert audit["by_reference"] == {"call-1": 1}
    assert audit["by_kind"] == {"image": 2, "video": 1}
    assert audit["calls"]["submit"] == 3


def test_the_audit_is_the_same_over_http_and_in_the_process(client, sandbox):
    client.image("a fox")
    assert client.call("GET", "/audit").json() == sandbox.audit()


def test_a_reset_forgets_everything(client, sandbox):
    job = client.finished("a fox [rate-limited=0]")
    client.image("a fox [fail=1]")
    assert client.call("POST", "/reset").status_code == 200
    assert sandbox.audit()["jobs"] == 0
    assert client.poll(job["id"]).status_code == 404
    assert client.get(job["content"]["video_url"]).status_code == 404
    assert client.image("a fox [fail=1]").status_code == 400


def test_a_planned_outage_strikes_so_many_requests_below_its_path(client):
    outage = {"path": "/ark/", "method": "GET", "status": 503, "times": 2, "retry_after": 3}
    assert client.call("POST", "/faults", json=outage).status_code == 200
    job = client.video("a fox").json()["id"]
    struck = client.poll(job)
    assert (struck.status_code, struck.headers["Retry-After"]) == (503, "3")
    assert [client.poll(job).status_code for _ in range(2)] == [503, 200]


def test_a_planned_outage_can_cut_the_connection(client):
    client.call("POST", "/faults", json={"path": "/openai/", "cut": "reset"})
    with pytest.raises(requests.ConnectionError):
        client.image("a fox")
    assert client.image("a fox").status_code == 200


def test_an_unclear_outage_is_refused(client):
    for plan in ("{", "[]", "{}", '{"path": "/", "cut": "off"}', '{"path": "/", "colour": 1}'):
        assert client.call("POST", "/faults", data=plan).status_code == 400, plan
    assert client.call("GET", "/healthz").status_code == 200


def test_unknown_paths_and_methods_are_refused_in_json(client):
    for method, path, status in (("GET", "/nowhere", 404), ("DELETE", "/audit", 405), ("GET", "/files/x.mp4", 404)):
        response = client.call(method, path)
        assert (response.status_code, list(response.json())) == (status, ["error"])


def test_a_connection_carries_many_requests(sandbox):
    connection = HTTPConnection("127.0.0.1", urlsplit(sandbox.url).port, timeout=PATIENCE)
    sockets = set()
    for _ in range(3):
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b'{"status": "ok"}'
        sockets.add(connection.sock.getsockname())
    connection.close()
    assert len(sockets) == 1


def test_a_head_of_a_file_tells_its_length(client):
    url = client.image("a fox [url]").json()["data"][0]["url"]
    head, body = requests.head(url, timeout=PATIENCE), client.get(url)
    assert head.headers["content-length"] == str(len(body.content))
    assert head.content == b""


def test_a_malformed_request_is_refused_and_the_connection_closed(sandbox):
    for sent in (
        b"nonsense\r\n\r\n",
        b"GET //[ HTTP/1.1\r\n\r\n",
        b"POST /reset HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /reset HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"POST /reset HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
        b"POST /reset HTTP/1.1\r\ncontent-length: " + b"9" * 5_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 263_000 + b" HTTP/1.1\r\n\r\n",
    ):
        assert talk(sandbox, sent)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 413", b"HTTP/1.1 431"), sent[:60]


def test_expect_100_continue_is_answered(sandbox):
    head = b"POST /reset HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\nconnection: close\r\n\r\n"
    assert talk(sandbox, head + b"{}").startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_many_calls_run_at_the_same_time(client, sandbox):
    with ThreadPoolExecutor(40) as pool:
        calls = [pool.submit(client.image, f"fox {number} [held]", size="1024x1024") for number in range(40)]
        wait_until(lambda: sandbox.audit()["jobs"] == 40)
        assert not any(call.done() for call in calls)
        sandbox.release()
        assert {call.result(PATIENCE).status_code for call in calls} == {200}


def test_a_sandbox_with_hanging_calls_closes_at_once():
    """That it closes at all shows it: the calls hang for ever."""
    bodies = [{"model": "m", "prompt": word} for word in ("[hang]", "[held]", "[late=99999]")]
    with ThreadPoolExecutor() as pool:
        with Sandbox() as short:
            calls = [pool.submit(gone, Client(short), body) for body in bodies]
            wait_until(lambda: short.audit()["jobs"] == len(bodies))
        assert [call.result(PATIENCE) for call in calls] == [True] * len(bodies)


def gone(client, body):
    """Whether the connection ends without an answer."""
    with client.sent("POST", IMAGES, body) as connection:
        try:
            return connection.recv(1) == b""
        except ConnectionResetError:
            return True


def test_a_taken_port_is_an_error(sandbox):
    with pytest.raises(OSError), Sandbox(urlsplit(sandbox.url).port):
        pass


def test_the_command_says_where_it_listens_and_leaves_quietly_on_a_signal(tmp_path):
    command = [*COMMAND, "--port", "0", "--video-seconds", "0"]
    numbers = (signal.SIGTERM, signal.SIGINT)
    children = [Child(number.name, command, environment=os.environ, log=tmp_path / number.name) for number in numbers]
    try:
        for child, number in zip(children, numbers, strict=True):
            url = child.wait_for_line(r"sandbox listening on (http://127\.0\.0\.1:\d+)$")[1]
            assert requests.get(f"{url}/healthz", timeout=PATIENCE).json() == {"status": "ok"}
            child.send(number)
            assert child.wait() == 0
            assert child.text().count("\n") == 1
    finally:
        for child in children:
            child.stop()


def test_the_command_names_a_taken_port(sandbox):
    port = str(urlsplit(sandbox.url).port)
    ended = subprocess.run([*COMMAND, "--port", port], capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in ended.stderr
