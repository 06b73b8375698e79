"""The way of one warm small submission through our code, as ARCHITECTURE.md tells it."""

import asyncio
import json
import re
from typing import Any

import pytest
from django.db import connection

from front import task_api
from front.application import application
from tests.scopes import scope
from tests.tasks_api.asking import image_task
from tests.tracing import ROOT, Trace, traced

pytestmark = pytest.mark.django_db(transaction=True)

ROW = re.compile(r"^\| `([a-z0-9_/]+\.py)` \| \S.*\|$", re.MULTILINE)
ROOMS = ("accounts", "adapters", "billing", "catalog", "front", "storage", "tasks", "tasks_api")
MOST_MODULES, MOST_FUNCTIONS, MOST_RETURNS = 45, 200, 86


def submit(secret: str, number: int) -> int:
    """The status of a submission through the whole front."""
    raw = json.dumps(image_task()).encode()
    headers = {"authorization": f"Bearer {secret}", "content_type": "application/json", "content_length": str(len(raw))}
    asked = scope("POST", "/v1/tasks", **headers, idempotency_key=f"submission-{number}")
    bodies = [{"type": "http.request", "body": raw}]
    statuses: list[int] = []

    async def receive() -> Any:
        return bodies.pop() if bodies else await asyncio.Future()

    async def send(message: Any) -> None:
        statuses.append(message.get("status", 0))

    asyncio.run(application(asked, receive, send))
    return statuses[0]


@pytest.fixture
def trace(key, image_model, monkeypatch) -> Trace:
    """Of a submission after others like it."""
    with traced() as trace:
        monkeypatch.setattr(task_api, "_submissions", task_api._batches("traced"))  # whose thread is traced, too
        assert [submit(key.secret, number) for number in range(3)] == [202] * 3
        trace.clear()
        assert submit(key.secret, 3) == 202
    return trace


def documented() -> list[str]:
    """The modules of the table "One submission, module by module", in its order."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    return ROW.findall(text.partition("### One submission, module by module\n")[2].partition("\n**Where next.**")[0])


def test_the_map_lists_the_modules_of_a_submission_in_order_of_their_first_entry(trace):
    assert (
        trace.of("accounts", "adapters", "billing", "catalog", "front", "storage", "tasks", "tasks_api") == documented()
    )


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's path is another")
def test_a_submission_enters_few_modules_and_functions(trace):
    assert len(trace.modules) <= MOST_MODULES, trace.modules
    assert len(trace.functions) <= MOST_FUNCTIONS
    assert trace.returns <= MOST_RETURNS
