"""GETs of tasks that are answered together: each gets its own answer, for the statements of one."""

import contextvars
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection

from common.http import front_body
from common.http.asgi import Answer
from front import reading
from front.reading import TaskRead
from tests.rows import make_task
from tests.scopes import scope
from tests.tasks.steps import captured

pytestmark = pytest.mark.django_db(transaction=True)


def get(task_id: str, secret: str, **headers: Any) -> dict[str, Any]:
    return scope("GET", f"/v1/tasks/{task_id}", authorization=f"Bearer {secret}", **headers)


def together(*requests: dict[str, Any]) -> list[Any]:
    """The status and the document of each answer, or what the front has to answer for."""
    with closing(front_body.empty()) as nothing:
        group = [
            TaskRead(
                scope=each, body=nothing, task_id=str(reading.task_id_of(each)), context=contextvars.copy_context()
            )
            for each in requests
        ]
        return [
            (each.status, json.loads(each.body)) if isinstance(each, Answer) else type(each)
            for each in reading.answers(group)
        ]


@contextmanager
def broken(part: str) -> Iterator[list[str]]:
    """Statements with this part fail, as where the database is away; the list has those that were tried."""
    tried: list[str] = []

    def execute(run: Any, statement: str, *given: Any) -> Any:
        if part not in statement:
            return run(statement, *given)
        tried.append(statement)
        raise OperationalError("the database is away")

    with connection.execute_wrapper(execute):
        yield tried


def test_each_of_a_group_gets_its_own_answer_for_two_statements(key, other_key):
    mine, other = make_task(key, "queued").id, make_task(other_key).id
    absent = "task_" + "0" * 26
    with captured() as statements:
        answers = together(
            get(mine, key.secret),
            get(other, key.secret),
            get(other, other_key.secret),
            get(mine, other_key.secret),
            get(absent, key.secret),
            get(mine, "dr-task-nobody"),
            get(mine, key.secret),
        )
    assert [status for status, _ in answers] == [200, 404, 200, 404, 404, 401, 200]
    assert [answers[place][1]["id"] for place in (0, 2, 6)] == [mine, other, mine]
    assert len([sent for sent in statements if "PRAGMA" not in sent]) == 2, statements


def test_one_that_django_cannot_take_fails_alone(key):
    task_id = make_task(key).id
    worse = {**get(task_id, key.secret), "query_string": b"\xff"}
    first, second, third = together(worse, get(task_id, key.secret, host="evil.example"), get(task_id, key.secret))
    assert (first, second[0], third[0]) == (UnicodeDecodeError, 400, 200)


@pytest.mark.parametrize("part", ["accounts_keysecret", "tasks_taskpayload"])
def test_a_database_that_is_away_is_told_to_each_and_asked_once(key, part):
    task_id = make_task(key).id
    with broken(part) as tried:
        answers = together(*[get(task_id, key.secret)] * 3)
    assert len(tried) == 1
    assert [(status, told["error"]["type"]) for status, told in answers] == [(503, "TASK_SERVICE_UNAVAILABLE")] * 3


def test_only_reads_of_one_task_are_answered_so():
    task = "/v1/tasks/task_" + "0" * 26
    others = [
        ("POST", task),
        ("GET", "/v1/tasks"),
        ("GET", f"{task}/trace"),
        ("GET", "/v1/tasks/task_x"),
        ("PUT", task),
    ]
    assert [reading.task_id_of(scope(*request)) for request in others] == [None] * len(others)
    assert {reading.task_id_of(scope(method, task)) for method in ("GET", "HEAD")} == {"task_" + "0" * 26}
