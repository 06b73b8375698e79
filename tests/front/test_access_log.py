"""The access log's line, which passes redaction by, against what redaction makes of the same."""

import json
import logging
from io import StringIO

import pytest

from common import logs, redaction
from front import access_log

TASK = "/v1/tasks/task_01m82npqgvjyn2j2yewcr4myer"
REQUESTS = [
    *[("GET", path) for path in ("/", "*", "", TASK, f"{TASK}/assets/0", "/v1/é/\n", "/" + "long/" * 200)],
    *[("GET", f"/{secret}/x") for secret in ("dr-task-canary", "sk-canary12345", "Bearer canary123", "a known secret")],
    *[("POST", f"/a?{query}") for query in ("signature=canary", "password='canary'", "x=https://a:canary@b/c")],
    *[("SK-CANARY12345", "/v1/tasks"), ("PATCH", "/v1/tasks/data:image/png;base64,canary")],
]


def written(**extra) -> str:
    """What the whole way through a logger makes of it."""
    record = logging.LogRecord("darkroom.access", logging.INFO, "", 0, "%(method)s %(path)s %(status)s", extra, None)
    vars(record).update(extra)
    logs.Redaction().filter(record)
    return logs.JsonLines().format(record)


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_a_line_is_as_redaction_would_have_it(method, path, monkeypatch):
    redaction.redact("a known secret")
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(logs.Redaction())
    handler.setFormatter(logs.JsonLines())
    monkeypatch.setattr(access_log.access, "handlers", [handler])
    access_log.write(method, path, 200, 1.5)
    assert "canary" not in stream.getvalue().lower()
    assert "known" not in stream.getvalue()
    expected = written(method=method, path=path[:500], status=200, milliseconds=1.5)
    assert json.loads(stream.getvalue()) | {"time": ""} == json.loads(expected) | {"time": ""}
