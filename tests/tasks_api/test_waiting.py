"""Waits for the end of a task: what asks for one, what comes of it, and what many at once cost."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.concurrency import threads
from common.http import front_body
from common.http.asgi import Answer, Message
from common.http.front_body import Body
from common.process import shutdown
from front import task_api
from tasks.events import events, reader
from tasks.events.hub import Hub
from tasks.models import Task
from tasks_api import waiting
from tests import rows
from tests.rows import make_key
from tests.scopes import scope
from tests.tasks_api.asking import SUBMISSION_FIELDS
from tools.children import PATIENCE

NOBODY = "task_" + "0" * 26
HOURS = "wait=999"
APPLIED = b"wait=36000"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def hub(monkeypatch) -> Hub:
    """Of this test alone. Waits may last ten hours: what comes of one earlier did not wait for its time to be over."""
    monkeypatch.setattr(waiting, "LONGEST_SECONDS", 36_000)
    monkeypatch.setattr(waiting, "hub", Hub())
    return waiting.hub


async def staying() -> Message:
    """A client that stays."""
    await asyncio.Event().wait()
    raise AssertionError


async def leaving() -> Message:
    return {"type": "http.disconnect"}


@pytest.fixture
def get(key) -> Callable[..., Coroutine[Any, Any, Answer]]:
    """GET of a task with the key, through the wait and the real views."""

    def get(task: Task, query: str, *, method: str = "GET", receive=staying, **headers: str):
        request = scope(method, f"/v1/tasks/{task.id}", query, authorization=f"Bearer {key.secret}", **headers)
        return waiting.answer(task_api.answer, request, front_body.empty(), receive)

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
        return waiting.answer(task_api.answer, request, Body(file=body.file, size=size), staying)

    return post


def end_all() -> None:
    with transaction.atomic():
        Task.objects.update(status="canceled", finished_at=timezone.now(), actual_micros=0)
        events.record((task.id, task.key_id, "canceled", 0) for task in Task.objects.all())


def header(answer: Answer, name: bytes) -> bytes:
    return dict(answer.headers).get(name, b"")


def run(wait: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(asyncio.wait_for(wait, PATIENCE))


async def begun(count: int) -> None:
    """Returns once so many waits are open."""
    while sum(map(len, waiting.hub._waits.values())) < count:
        await asyncio.sleep(0.01)


async def ended_meanwhile(wait: Coroutine[Any, Any, Answer]) -> Answer:
    """The answer of a wait in whose course every task ends."""
    running = asyncio.create_task(wait)
    await begun(1)
    await threads.call(end_all)
    return await running


def test_a_get_answers_when_the_task_has_ended(get, make_task):
    task = make_task()
    answer = run(ended_meanwhile(get(task, HOURS)))
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "canceled")
    assert header(answer, b"preference-applied") == APPLIED


def test_a_head_waits_as_a_get_does(get, make_task):
    answer = run(ended_meanwhile(get(make_task(), HOURS, method="HEAD")))
    assert (answer.status, header(answer, b"preference-applied")) == (200, APPLIED)


def test_a_get_answers_at_last_with_the_task_as_it_is(get, make_task, hub, monkeypatch):
    monkeypatch.setattr(waiting, "LONGEST_SECONDS", 0.05)
    assert json.loads(run(get(make_task(), HOURS)).body)["status"] == "queued"
    assert hub._follower


def test_a_get_of_an_ended_task_does_not_wait(get, make_task, hub):
    assert json.loads(run(get(make_task("failed"), HOURS)).body)["status"] == "failed"
    assert hub._follower is None


def test_a_get_that_knows_the_tasks_state_waits_for_the_next(get, make_task):
    task = make_task()
    tag = header(run(get(task, "")), b"etag").decode()
    answer = run(ended_meanwhile(get(task, HOURS, if_none_match=tag)))
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "canceled")


def test_a_get_that_knows_an_ended_task_is_told_so(get, make_task):
    task = make_task("failed")
    tag = header(run(get(task, "")), b"etag").decode()
    assert run(get(task, HOURS, if_none_match=tag)).status == 304


def test_a_get_refused_by_the_views_does_not_wait(get, make_task, hub):
    refused = run(get(make_task(), "wait=soon"))
    assert (refused.status, json.loads(refused.body)["error"]["type"]) == (400, "TASK_INVALID_REQUEST")
    assert "wait" in json.loads(refused.body)["error"]["message"]
    assert hub._follower is None


def test_a_post_answers_with_the_task_once_it_has_ended(post):
    answer = run(ended_meanwhile(post(HOURS)))
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "canceled")
    assert header(answer, b"preference-applied") == APPLIED


def test_a_post_answers_202_when_its_time_is_over(post, monkeypatch):
    monkeypatch.setattr(waiting, "LONGEST_SECONDS", 0.05)
    answer = run(post(HOURS))
    assert (answer.status, list(json.loads(answer.body))) == (202, SUBMISSION_FIELDS)
    assert header(answer, b"preference-applied") == b"wait=0.05"


def test_a_post_that_is_refused_does_not_wait(post, hub):
    assert run(post(HOURS, content_encoding="gzip")).status == 415
    assert hub._follower is None


def test_a_replay_does_not_wait(post, hub):
    run(post("", idempotency_key="once"))
    answer = run(post(HOURS, idempotency_key="once"))
    assert (answer.status, header(answer, b"idempotency-replayed")) == (202, b"true")
    assert header(answer, b"preference-applied") == b""
    assert hub._follower is None


def test_a_client_that_leaves_ends_its_wait(get, make_task, hub):
    run(get(make_task(), HOURS, receive=leaving))
    assert hub._follower
    assert not hub._waits


def test_a_stopping_process_ends_its_waits(get, make_task, request):
    request.addfinalizer(lambda: shutdown.watch(lambda: True))
    shutdown.watch(lambda: False)
    assert json.loads(run(get(make_task(), HOURS)).body)["status"] == "queued"


async def beyond(count: int, waits: Callable[[], Coroutine[Any, Any, Answer]], one_more) -> Answer:
    """The answer of one request more, while so many wait."""
    running = [asyncio.create_task(waits()) for _ in range(count)]
    await begun(count)
    answer = await one_more()
    assert not any(wait.done() for wait in running)
    await threads.call(end_all)
    await asyncio.gather(*running)
    return answer


def test_the_seventeenth_wait_of_a_key_is_answered_with_the_state_of_now(get, post, make_task):
    task = make_task()
    answer = run(beyond(16, lambda: get(task, HOURS), lambda: get(task, HOURS)))
    assert (answer.status, json.loads(answer.body)["status"]) == (200, "queued")
    assert header(answer, b"preference-applied") == b""
    assert not waiting.waits


def test_a_submission_beyond_the_keys_waits_is_accepted_at_once(get, post, make_task):
    task = make_task()
    answer = run(beyond(16, lambda: get(task, HOURS), lambda: post(HOURS)))
    assert (answer.status, list(json.loads(answer.body))) == (202, SUBMISSION_FIELDS)
    assert header(answer, b"preference-applied") == b""


def test_a_read_beyond_the_keys_waits_keeps_its_condition(get, make_task):
    task = make_task()
    tag = header(run(get(task, "")), b"etag").decode()
    assert run(beyond(16, lambda: get(task, HOURS), lambda: get(task, HOURS, if_none_match=tag))).status == 304


def test_another_key_may_wait_meanwhile(get, make_task, account):
    mine, second = make_task(), make_key(account, "second")
    task = rows.make_task(second, "queued")

    def other() -> Coroutine[Any, Any, Answer]:
        request = scope("GET", f"/v1/tasks/{task.id}", "wait=1", authorization=f"Bearer {second.secret}")
        return waiting.answer(task_api.answer, request, front_body.empty(), staying)

    assert header(run(beyond(16, lambda: get(mine, HOURS), other)), b"preference-applied") == b"wait=1"


def test_two_hundred_waits_take_no_thread_each_and_all_see_the_end(get, make_task, monkeypatch):
    monkeypatch.setattr(waiting, "WAITS_PER_KEY", 200)
    tasks = [make_task() for _ in range(4)]
    threads_before = threading.active_count()

    async def wait_for_all() -> list[Answer]:
        running = [asyncio.create_task(get(task, HOURS)) for task in tasks * 50]
        await begun(200)
        assert threading.active_count() <= threads_before + threads.THREADS
        await threads.call(end_all)
        return await asyncio.gather(*running)

    answers = run(wait_for_all())
    assert [json.loads(answer.body)["status"] for answer in answers] == ["canceled"] * 200


def test_all_waits_share_one_statement(make_task):
    tasks = [make_task("failed"), make_task(), make_task("succeeded")]
    with CaptureQueriesContext(connection) as queries:
        ended = reader.ended_among([*(task.id for task in tasks), NOBODY])
    assert set(ended) == {tasks[0].id, tasks[2].id}
    assert len(queries) == 1


def test_nobody_waiting_asks_nothing(get, make_task, hub):
    task = make_task()

    async def after_a_wait() -> None:
        await ended_meanwhile(get(task, HOURS))
        await hub._follower

    run(after_a_wait())
