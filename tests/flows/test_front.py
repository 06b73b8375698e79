"""The Task API behind the real web server: what no test client shows."""

import socket

from tests.flows.conftest import Service
from tools.children import PATIENCE


def asked(service: Service, *lines: str | bytes, body: bytes = b"") -> tuple[int, str, bytes]:
    """Status, content type and body of the answer to a request written by hand."""
    head = [line.encode() if isinstance(line, str) else line for line in lines]
    defaults = (b"Host: 127.0.0.1", f"Authorization: Bearer {service.key}".encode(), b"Connection: close")
    request = b"\r\n".join([head[0], *defaults, *head[1:], b"Content-Length: %d" % len(body), b"", body])
    address = ("127.0.0.1", int(service.stack.environment["PORT"]))
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    top, _, content = answer.partition(b"\r\n\r\n")
    status, *headers = top.decode("latin-1").split("\r\n")
    types = [line.partition(":")[2].strip() for line in headers if line.lower().startswith("content-type:")]
    return int(status.split()[1]), "".join(types), content


GET = "GET /v1/tasks HTTP/1.1"
POST = "POST /v1/tasks HTTP/1.1"
STRANGE = {
    "charset of an unknown encoding": (POST, "Content-Type: application/json; charset*=nothing'en'x"),
    "charset in parts": (POST, "Content-Type: application/json; charset*0*=utf-8''%ff; charset*1=x"),
    "content type of 30 kB": (POST, "Content-Type: application/json; a=" + "x" * 30_000),
    "content type of many parts": (POST, "Content-Type: application/json" + ";a=b" * 5_000),
    "content type in latin-1": (POST, b"Content-Type: application/json; charset=\xff"),
    "content type in quotes": (POST, 'Content-Type: application/json; charset="a\\'),
    "cookie": (GET, 'Cookie: sessionid="; csrftoken=' + "y" * 5_000),
    "query": ("GET /v1/tasks?%FF=%00&a[]=%ED%A0%80 HTTP/1.1",),
    "query of 60 kB": (f"GET /v1/tasks?model={'x' * 60_000} HTTP/1.1",),
    "query of many fields": ("GET /v1/tasks?" + "&".join(f"a{n}=" for n in range(3_000)) + " HTTP/1.1",),
    "path escapes": ("GET /v1/tasks/%FF%00%0d%0aX:%20y HTTP/1.1",),
    "path of 60 kB": (f"GET /v1/tasks/{'x' * 60_000} HTTP/1.1",),
    "path with dots": ("GET /v1/tasks/../../etc/passwd HTTP/1.1",),
    "method": ("BREW /v1/tasks HTTP/1.1",),
    "method trace": ("TRACE /v1/tasks HTTP/1.1",),
    "prefer": (POST, "Prefer: wait=\xff, wait=1e9, =;,", "Content-Type: application/json"),
    "if-none-match": ("GET /v1/tasks/task_00000000000000000000000000 HTTP/1.1", b"If-None-Match: \xff,,,W/"),
    "range": ("GET /v1/tasks/task_00000000000000000000000000/assets/0 HTTP/1.1", "Range: bytes=--1,x"),
    "asset index": ("GET /v1/tasks/task_00000000000000000000000000/assets/%FF HTTP/1.1",),
    "asset index of 50 kB": (f"GET /v1/tasks/task_00000000000000000000000000/assets/{'9' * 50_000} HTTP/1.1",),
    "accept": (GET, "Accept: text/html;q=x;;,;"),
    "forwarded": (GET, "X-Forwarded-Host: evil\xff", "X-Forwarded-Proto: gopher", "Forwarded: for=;;"),
    "wait of 3000 digits": (f"GET /v1/tasks/task_00000000000000000000000000?wait={'9' * 3_000} HTTP/1.1",),
    "method override": (POST, "X-HTTP-Method-Override: DELETE", "Content-Type: application/json"),
}


def test_a_strange_request_is_answered_in_json_and_without_a_traceback(service):
    said = service.stack.logs().count("Traceback")
    for name, lines in STRANGE.items():
        status, content_type, content = asked(service, *lines, body=b"{}" if lines[0] == POST else b"")
        assert status < 500, (name, content)
        assert content_type == "application/json", (name, content[:200])
    assert service.stack.logs().count("Traceback") == said


def test_no_answer_may_be_stored_and_each_has_a_request_id(service):
    for path in ("", "/models", "/usage", "/x", "/x/y/z", "?limit=0", "/task_00000000000000000000000000/assets/0"):
        response = service.client.get(f"/v1/tasks{path}", headers={"X-Request-Id": "mine-1"})
        assert response.headers["Cache-Control"] == "no-store", path
        assert response.headers["X-Request-Id"] == "mine-1", path


def test_other_methods_and_paths_are_refused_in_json(service):
    paths = ("/v1/tasks", "/v1/tasks/", "/v1/tasks/x", "/v1/tasks/x/assets/0", "/v1/x")
    for method, path in zip(("OPTIONS", "PUT", "DELETE", "TRACE", "BREW"), paths, strict=True):
        response = service.client.request(method, path)
        assert response.status_code in (404, 405), (method, path)
        assert response.json()["error"]["type"] in ("TASK_NOT_FOUND", "TASK_METHOD_NOT_ALLOWED"), (method, path)
