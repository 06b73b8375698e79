"""The access log's line, which passes redaction by, against what redaction makes of the same."""

import asyncio
import json
import logging
from io import StringIO

import pytest

from common import logs, redaction

TASK = "/v1/tasks/task_01m82npqgvjyn2j2yewcr4myer"
REQUESTS = [
    *[("GET", path) for path in ("/", "*", "", TASK, f"{TASK}/assets/0", "/v1/é/\n", "/" + "long/" * 200)],
    *[("GET", f"/{secret}/x") for secret in ("dr-task-canary", "sk-canary12345", "Bearer canary123", "a known secret")],
    *[("POST", f"/a?{query}") for query in ("signature=canary", "password='canary'", "x=https://a:canary@b/c")],
    *[("SK-CANARY12345", "/v1/tasks"), ("PATCH", "/v1/tasks/data:image/png;base64,canary")],
]


async def write(*requests: tuple[str, str, int, float]) -> None:
    for request in requests:
        logs.write_access(*request)


def written(**extra) -> str:
    """What the whole way through a logger makes of it."""
    record = logging.LogRecord("darkroom.access", logging.INFO, "", 0, "%(method)s %(path)s %(status)s", extra, None)
    vars(record).update(extra)
    logs.Redaction().filter(record)
    return logs.JsonLines().format(record)


class Stream(StringIO):
    """Counts how often it is written to."""

    writes = 0

    def write(self, said: str) -> int:
        self.writes += 1
        return super().write(said)


@pytest.fixture
def stream(monkeypatch) -> Stream:
    """What the access log writes."""
    stream = Stream()
    handler = logging.StreamHandler(stream)
    handler.addFilter(logs.Redaction())
    handler.setFormatter(logs.JsonLines())
    monkeypatch.setattr(logs.access, "handlers", [handler])
    return stream


def test_requests_that_are_answered_together_are_written_together(stream):
    async def two_turns() -> None:
        await write(("GET", "/a", 200, 1.5), ("GET", "/b", 404, 1.5))
        await asyncio.sleep(0)
        await write(("POST", "/c", 202, 1.5))

    asyncio.run(two_turns())
    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == [
        "GET /a 200",
        "GET /b 404",
        "POST /c 202",
    ]
    assert stream.writes == 2


def test_a_line_names_its_own_request(stream):
    async def one(request_id: str) -> None:
        logs.adopt_request_id(request_id)
        await write(("GET", f"/{request_id}", 200, 1.5))

    async def both() -> None:
        await asyncio.gather(one("a"), one("b"))

    asyncio.run(both())
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["path"], line["request_id"]) for line in lines] == [("/a", "a"), ("/b", "b")]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_a_line_is_as_redaction_would_have_it(method, path, stream):
    redaction.redact("a known secret")
    asyncio.run(write((method, path, 200, 1.5)))
    assert "canary" not in stream.getvalue().lower()
    assert "known" not in stream.getvalue()
    expected = written(method=method, path=path[:500], status=200, milliseconds=1.5)
    assert json.loads(stream.getvalue()) | {"time": ""} == json.loads(expected) | {"time": ""}


def test_a_secret_that_is_told_later_is_taken_out_of_the_same_path(stream):
    asyncio.run(write(("GET", "/told-later", 200, 1.5)))
    redaction.redact("told-later")
    asyncio.run(write(("GET", "/told-later", 200, 1.5)))
    assert [json.loads(line)["path"] for line in stream.getvalue().splitlines()] == ["/told-later", "/[redacted]"]
