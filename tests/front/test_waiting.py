"""Waits for the end of a task: what asks for one, what comes of it, and what many at once cost."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common import front_body, shutdown, threads
from common.asgi import Answer, Message
from common.front_body import Body
from config import front_wsgi
from tasks import event_reader, events
from tasks.models import Task
from tasks_api import waiting
from tests.front.scopes import scope

NOBODY = "task_" + "0" * 26

pytestmark = pytest.mark.django_db(transaction=True)


async def staying() -> Message:
    """A client that stays."""
    await asyncio.Event().wait()
    raise AssertionError


async def leaving() -> Message:
    return {"type": "http.disconnect"}


@pytest.fixture
def get(key) -> Callable[..., Coroutine[Any, Any, Answer]]:
    """GET of a task with the key, through the wait and the real views."""

    def get(task: Task, query: str, *, receive=staying, **headers: str):
        request = scope("GET", f"/v1/tasks/{task.id}", query, authorization=f"Bearer {key.secret}", **headers)
        return waiting.answer(front_wsgi.ask, request, front_body.empty(), receive)

    return get


@pytest.fixture
def post(key, image_model) -> Callable[..., Coroutine[Any, Any, Answer]]:
    """A submission with the key, through the wait and the real views."""

    def post(prefer: str, **headers: str):
        body = front_body.empty()
        size = body.file.write(json.dumps({"model": "aurora-image", "params": {"prompt": "a boat"}}).encode())
        body.file.seek(0)
        sent = {"authorization": f"Bearer {key.secret}", "content_type": "application/json", "prefer": prefer}
        request = scope("POST", "/v1/tasks", **sent, **headers)
        return waiting.answer(front_wsgi.ask, request, Body(file=body.file, size=size), staying)

    return post


def end_all() -> None:
    with transaction.atomic():
        Task.objects.update(status="canceled", finished_at=timezone.now(), actual_micros=0)
        events.record((task.id, task.key_id, "canceled", 0) for task in Task.objects.all())


def header(answer: Answer, name: bytes) -> bytes:
    return dict(answer.headers).get(name, b"")


async def ended_meanwhile(wait: Coroutine[Any, Any, Answer]) -> Answer:
    """The answer of a wait in whose course every task ends."""
    running = asyncio.create_task(wait)
    while not waiting.hub._waits:
        await asyncio.sleep(0.01)
    await threads.call(end_all)
    return await running


def test_a_get_answers_when_the_task_has_ended(get, make_task):
    task = make_task()
    answer = asyncio.run(ended_meanwhile(get(task, "wait=30")))
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "canceled")
    assert header(answer, b"preference-applied") == b"wait=30"


def test_a_get_answers_at_last_with_the_task_as_it_is(get, make_task):
    began = time.monotonic()
    answer = asyncio.run(get(make_task(), "wait=1"))
    assert time.monotonic() - began >= 1
    assert json.loads(answer.body)["status"] == "queued"


def test_a_get_of_an_ended_task_does_not_wait(get, make_task):
    began = time.monotonic()
    assert json.loads(asyncio.run(get(make_task("failed"), "wait=30")).body)["status"] == "failed"
    assert time.monotonic() - began < 5


def test_a_get_that_knows_the_tasks_state_waits_for_the_next(get, make_task):
    task = make_task()
    tag = header(asyncio.run(get(task, "")), b"etag").decode()
    answer = asyncio.run(ended_meanwhile(get(task, "wait=30", if_none_match=tag)))
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "canceled")


def test_a_get_that_knows_an_ended_task_is_told_so(get, make_task):
    task = make_task("failed")
    tag = header(asyncio.run(get(task, "")), b"etag").decode()
    assert asyncio.run(get(task, "wait=30", if_none_match=tag)).status == 304


def test_a_get_refused_by_the_views_does_not_wait(get, make_task):
    refused = asyncio.run(get(make_task(), "wait=soon"))
    assert (refused.status, json.loads(refused.body)["error"]["type"]) == (400, "TASK_INVALID_REQUEST")
    assert "wait" in json.loads(refused.body)["error"]["message"]


def test_a_post_answers_with_the_task_once_it_has_ended(post):
    answer = asyncio.run(ended_meanwhile(post("wait=30")))
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "canceled")
    assert header(answer, b"preference-applied") == b"wait=30"


def test_a_post_answers_202_when_its_time_is_over(post):
    answer = asyncio.run(post("wait=1"))
    assert (answer.status, json.loads(answer.body)["status"]) == (202, "queued")
    assert header(answer, b"preference-applied") == b"wait=1"


def test_a_post_that_is_refused_does_not_wait(post):
    assert asyncio.run(post("wait=30", content_encoding="gzip")).status == 415


def test_a_replay_does_not_wait(post):
    asyncio.run(post("", idempotency_key="once"))
    answer = asyncio.run(asyncio.wait_for(post("wait=30", idempotency_key="once"), 5))
    assert (answer.status, header(answer, b"idempotency-replayed")) == (202, b"true")
    assert header(answer, b"preference-applied") == b""


def test_a_client_that_leaves_ends_its_wait(get, make_task):
    asyncio.run(asyncio.wait_for(get(make_task(), "wait=30", receive=leaving), 5))
    assert not waiting.hub._waits


def test_a_stopping_process_ends_its_waits(get, make_task):
    shutdown.watch(lambda: False)
    try:
        answer = asyncio.run(asyncio.wait_for(get(make_task(), "wait=30"), 5))
    finally:
        shutdown.watch(lambda: True)
    assert json.loads(answer.body)["status"] == "queued"


def test_two_hundred_waits_take_no_thread_each_and_all_see_the_end(get, make_task):
    tasks = [make_task() for _ in range(4)]
    threads_before = threading.active_count()

    async def wait_for_all() -> list[Answer]:
        running = [asyncio.create_task(get(task, "wait=30")) for task in tasks * 50]
        while sum(map(len, waiting.hub._waits.values())) < 200:
            await asyncio.sleep(0.01)
        assert threading.active_count() <= threads_before + threads.THREADS
        await threads.call(end_all)
        return await asyncio.gather(*running)

    answers = asyncio.run(wait_for_all())
    assert [json.loads(answer.body)["status"] for answer in answers] == ["canceled"] * 200


def test_all_waits_share_one_statement(make_task):
    tasks = [make_task("failed"), make_task(), make_task("succeeded")]
    with CaptureQueriesContext(connection) as queries:
        ended = event_reader.ended_among([*(task.id for task in tasks), NOBODY])
    assert set(ended) == {tasks[0].id, tasks[2].id}
    assert len(queries) == 1


def test_nobody_waiting_asks_nothing(get, make_task):
    task = make_task()

    async def after_a_wait() -> None:
        await ended_meanwhile(get(task, "wait=30"))
        await asyncio.wait_for(waiting.hub._follower, 5)

    asyncio.run(after_a_wait())
