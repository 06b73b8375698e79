"""The front against clients that are slow, large, rude or broken: one real gunicorn."""

import hashlib
import http.client
import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tools.children import wait_until

JSON = {"Content-Type": "application/json"}
HOST = b"Host: 127.0.0.1\r\n"


def answer_to(connection: socket.socket) -> tuple[int, bytes]:
    """Status and body of the next response."""
    with closing(http.client.HTTPResponse(connection)) as response:
        response.begin()
        return response.status, response.read()


def lines_of(front, request_id: str) -> list[dict]:
    """The log lines of a request, once its access line is there."""

    def found() -> list[dict]:
        lines = [json.loads(line) for line in front.logs().splitlines() if request_id in line]
        return lines if any(line["logger"] == "darkroom.access" for line in lines) else []

    return wait_until(found)


def test_eight_slow_readers_and_eight_dripping_uploads_hold_up_nobody(front, dial):
    uploads = []
    for _ in range(8):
        reader = dial(b"GET /v1/large HTTP/1.1\r\n" + HOST + b"\r\n", receive_buffer=4096)
        assert reader.recv(16) == b"HTTP/1.1 200 OK\r"
        uploads.append(dial(b"POST /v1/echo HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\na"))
    assert front.client().get("/v1/echo").status_code == 200
    for upload in uploads:  # they have been open all the time
        upload.sendall(b"b")
        assert json.loads(answer_to(upload)[1])["length"] == 2


def test_django_is_told_which_headers_came_more_than_once(dial):
    sent = b"X-One: a,b\r\nX-Two: a\r\nx-two: a\r\n"
    connection = dial(b"GET /v1/echo HTTP/1.1\r\n" + HOST + sent + b"\r\n")
    assert json.loads(answer_to(connection)[1])["repeated"] == ["x-two"]


def test_a_dripped_upload_arrives_whole(dial):
    connection = dial(b"POST /v1/echo HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\n")
    for byte in b"slowly"[:5]:
        connection.sendall(bytes([byte]))
    assert json.loads(answer_to(connection)[1])["sha256"] == hashlib.sha256(b"slowl").hexdigest()


def test_a_chunked_body_arrives_whole_and_with_its_length(front):
    seen = front.client().post("/v1/echo", data=iter([b"one ", b"two ", b"three"])).json()
    assert (seen["length"], seen["announced"]) == (13, "13")
    assert seen["sha256"] == hashlib.sha256(b"one two three").hexdigest()


def test_a_body_of_any_size_arrives_whole(front):
    client = front.client(front.create_key(account="sender"))
    for size in (0, 1, 256 * 1024, 256 * 1024 + 1, 8 * 1024 * 1024):
        body = b"p" * size
        seen = client.post("/v1/echo", data=body).json()
        assert (seen["length"], seen["sha256"]) == (size, hashlib.sha256(body).hexdigest())


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_40_megabytes_is_refused_and_the_client_can_read_why(front, chunked):
    body = bytes(40 * 1024 * 1024)
    chunks = (body[:1024] for _ in range(40 * 1024))
    client = front.client(front.create_key(account=f"sender of too much, {chunked}"))
    response = client.post("/v1/tasks", data=chunks if chunked else body, headers=JSON)
    assert response.status_code == 413
    assert response.json()["error"]["type"] == "TASK_REQUEST_TOO_LARGE"


def test_a_body_that_waits_for_100_continue_is_refused_before_it_is_sent(dial):
    head = b"POST /v1/tasks HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 40000000\r\n\r\n"
    assert answer_to(dial(head))[0] == 413


@pytest.mark.parametrize(
    ("path", "accept", "says"),
    [
        ("/console/sign-in/", "text/html,*/*", b"<h1>This was refused</h1>"),
        ("/console/sign-in/", "application/json", b'"TASK_REQUEST_TOO_LARGE"'),
        ("/v1/tasks", "text/html", b'"TASK_REQUEST_TOO_LARGE"'),
    ],
    ids=["person", "script", "program"],
)
def test_who_sends_too_much_to_a_page_is_told_so_on_a_page(dial, path, accept, says):
    sent = f"POST {path} HTTP/1.1\r\nAccept: {accept}\r\nExpect: 100-continue\r\nContent-Length: 40000000\r\n"
    status, body = answer_to(dial(sent.encode() + HOST + b"\r\n"))
    assert status == 413
    assert says in body


def test_malformed_path_bytes_are_an_unknown_path(dial):
    for path in ("%ff", "%c3%28", "%00", "a%00b", "%f0%9f", "%ed%a0%80", "%2e%2e%2f", "a//b"):
        status, body = answer_to(dial(f"GET /v1/{path} HTTP/1.1\r\n".encode() + HOST + b"\r\n"))
        assert (status, json.loads(body)["error"]["type"]) == (404, "TASK_NOT_FOUND"), path


def test_a_target_may_be_a_whole_url(dial):
    def status_of(target: str) -> int:
        return answer_to(dial(f"GET {target} HTTP/1.1\r\n".encode() + HOST + b"\r\n"))[0]

    assert status_of("http://127.0.0.1/healthz") == status_of("/healthz") == 200
    assert status_of("HTTPS://elsewhere.example:8443/healthz?a=/b") == 200
    assert status_of("http://127.0.0.1") == status_of("/") == 302
    assert status_of("http://evil.example/v1/tasks") == status_of("http:///v1/tasks") == 400  # it names the host


def test_models_of_any_name_are_read_from_the_path_and_no_key_behind_it_is_logged(front, dial):
    query = "?alt=sse&key=of-no-shape-that-is-known"
    for model in ("gem-1", "org/gem-1", "org%2Fgem-1", "a:b", "%ff", "%c3%28", "x%0Ay", "%2e%2e", "models/x", "%F0%9F"):
        for room in ("v1beta/models", "v1/models", "v1beta/tunedModels"):
            head = f"POST /{room}/{model}:generateContent{query} HTTP/1.1\r\nX-Request-Id: model-1\r\n".encode()
            status, body = answer_to(dial(head + HOST + b"Content-Length: 2\r\n\r\n{}"))
            assert (status, json.loads(body)["error"]["status"]) == (401, "UNAUTHENTICATED"), (room, model)
    assert lines_of(front, "model-1")
    assert "of-no-shape" not in front.logs()


def test_a_header_of_60_kilobytes_is_read(front):
    assert front.client().get("/v1/echo", headers={"X-Long": "x" * 60_000}).status_code == 200


def test_a_get_may_have_a_body(front):
    assert front.client().get("/v1/echo", data=b"hello").json()["length"] == 5


def test_head_has_the_length_and_no_body(front):
    for path in ("/v1/echo", "/healthz", "/v1/nothing"):
        response = front.client().head(path)
        assert int(response.headers["Content-Length"]) > 0, path
        assert response.content == b"", path


def test_a_sane_request_id_is_echoed_and_reaches_django_and_the_logs(front):
    response = front.client().get("/v1/echo", headers={"X-Request-Id": "order-1.a_B"})
    assert response.headers["X-Request-Id"] == response.json()["request_id"] == "order-1.a_B"
    assert {line["logger"] for line in lines_of(front, "order-1.a_B")} == {"darkroom.access", "tests.echo"}


def test_another_request_id_is_replaced(front):
    for offered in ("", "a b", "x" * 129, "é".encode("latin-1"), "<script>"):
        response = front.client().get("/v1/echo", headers={"X-Request-Id": offered})
        assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-Id"]), offered


def test_every_response_has_a_request_id(front):
    for path in ("/healthz", "/v1/echo", "/v1/crash", "/v1/nothing", "/admin/login/", "/assets/x"):
        assert front.client().get(path).headers.get("X-Request-Id"), path


def test_json_is_not_stored(front):
    assert front.client().get("/v1/echo").headers["Cache-Control"] == "no-store"


def test_a_fault_is_the_documented_500_and_logged_once_with_its_traceback(front):
    response = front.client().get("/v1/crash", headers={"X-Request-Id": "crash-1"})
    assert (response.status_code, response.json()["error"]["type"]) == (500, "TASK_INTERNAL_ERROR")
    tracebacks = [line for line in lines_of(front, "crash-1") if "traceback" in line]
    assert len(tracebacks) == 1
    assert "the view fell over" in tracebacks[0]["traceback"]


def test_a_database_that_is_away_is_a_503_that_says_when_to_come_back(front):
    response = front.client().get("/v1/offline")
    assert (response.status_code, response.json()["error"]["type"]) == (503, "TASK_SERVICE_UNAVAILABLE")
    assert int(response.headers["Retry-After"]) > 0


def test_an_unknown_host_is_refused_in_json_and_without_a_traceback(front):
    response = front.client().get("/v1/echo", headers={"Host": "evil.example", "X-Request-Id": "evil-1"})
    assert (response.status_code, response.json()["error"]["type"]) == (400, "TASK_INVALID_REQUEST")
    assert not any("traceback" in line for line in lines_of(front, "evil-1"))


def test_the_access_log_tells_the_request_without_its_query(front):
    front.client().get("/v1/nothing?signature=canary-in-a-query", headers={"X-Request-Id": "logged-1"})
    (line,) = [line for line in lines_of(front, "logged-1") if line["logger"] == "darkroom.access"]
    assert (line["method"], line["path"], line["status"]) == ("GET", "/v1/nothing", 404)
    assert line["milliseconds"] > 0
    assert "canary-in-a-query" not in front.logs()


def test_a_client_that_leaves_in_its_upload_ends_quietly(front, dial):
    head = b"POST /v1/echo HTTP/1.1\r\n" + HOST + b"X-Request-Id: leaver-1\r\nContent-Length: 1000\r\n\r\nhalf"
    dial(head).close()
    assert [line["level"] for line in lines_of(front, "leaver-1")] == ["INFO"]


def test_a_client_that_leaves_before_its_answer_ends_quietly(front, dial):
    dial(b"GET /v1/large HTTP/1.1\r\n" + HOST + b"X-Request-Id: leaver-2\r\n\r\n").close()
    assert {line["level"] for line in lines_of(front, "leaver-2")} == {"INFO"}


def test_connections_persist_and_pipelined_requests_are_answered_in_order(dial):
    first = b"POST /v1/echo?first HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\nhi"
    second = b"GET /v1/echo?second HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    with dial(first + second).makefile("rb") as received:
        assert re.findall(rb'"query": "(\w+)"', received.read()) == [b"first", b"second"]


def test_many_requests_at_once_are_all_answered(front):
    def ask(number: int) -> int:
        return front.client().post("/v1/echo", data=b"x" * number).json()["length"]

    with ThreadPoolExecutor(32) as clients:
        assert list(clients.map(ask, range(128))) == list(range(128))


def test_an_error_that_reaches_nobody_is_in_the_log_and_soon_in_the_metrics(front):
    with front.client() as client:
        assert client.get("/v1/swallow").status_code == 200
        line = 'darkroom_swallowed_errors_total{where="tests.front.swallow"} 1.0'
        wait_until(lambda: line in client.get("/metrics").text, what="the count")
    assert "a part of the view fell over" in front.logs()
