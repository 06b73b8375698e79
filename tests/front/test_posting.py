"""New tasks that are examined together, most of them without a view: each gets what it would have got alone."""

import asyncio
import contextvars
import dataclasses
import io
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_started
from django.db import OperationalError, connection

from catalog import snapshot
from common.database.query_deadline import Budget
from common.http.asgi import Answer
from common.http.front_body import Body
from front import posting
from front.posting import PostedTask
from front.submitting import Awaited
from storage import blobs
from tasks import switches
from tasks.intake import joint_submission
from tasks.intake.submission import Created
from tests.front.test_reading import broken
from tests.rows import make_account, make_key
from tests.scopes import scope
from tests.tasks.request.param_requests import data_url
from tests.tasks.steps import captured
from tests.tasks_api.asking import image_task
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_seen_yet(image_model, monkeypatch) -> Iterator[None]:
    blobs.check()
    monkeypatch.setattr(blobs.backends.health(), "until", time.monotonic() + PATIENCE)  # however slow the machine
    posting._heads.clear()
    yield
    posting._heads.clear()


@pytest.fixture
def views() -> Iterator[list[object]]:
    """One for each request that Django has seen."""
    seen: list[object] = []

    def started(sender: object, **_: object) -> None:
        seen.append(sender)

    request_started.connect(started)
    yield seen
    request_started.disconnect(started)


def new_task(secret: str, body: Any = None, query: str = "", **headers: str) -> PostedTask:
    raw = body if isinstance(body, bytes) else json.dumps(image_task() if body is None else body).encode()
    given = {"authorization": f"Bearer {secret}", "content_type": "application/json", **headers}
    asked = scope("POST", "/v1/tasks", query, **given)
    file: Any = io.BytesIO(raw)
    return PostedTask(scope=asked, body=Body(file=file, size=len(raw)), context=contextvars.copy_context())


def examined(*tasks: PostedTask) -> list[Any]:
    return list(posting.examine(tasks))


def outcome(found: Any) -> Any:
    """Status and error type of an answer; of a draft, what has become of it."""
    if isinstance(found, Awaited):
        return type(found.promise.result(PATIENCE))
    return (found.status, json.loads(found.body)["error"]["type"]) if isinstance(found, Answer) else type(found)


def test_each_of_a_group_gets_its_own_answer_for_one_statement(key, views):
    other = make_key(make_account("other"))
    with captured() as statements:
        found = examined(
            new_task(key.secret),
            new_task("dr-task-nobody"),
            new_task(other.secret, {"model": "aurora-image"}),
            new_task(other.secret),
        )
    assert len([sent for sent in statements if "accounts_keysecret" in sent]) == 1, statements
    refused = [(401, "authentication_error"), (400, "TASK_INVALID_REQUEST")]
    assert [outcome(each) for each in found] == [Created, *refused, Created]
    assert [found[n].draft.caller.key_id for n in (0, 3)] == [key.id, other.id]


def test_a_head_that_was_seen_before_needs_no_view_and_makes_the_same_task(key, views):
    body = image_task(n=2) | {"metadata": {"a": 1.0}, "callback_url": "https://receiver.example/"}
    first, second = examined(
        new_task(key.secret, body, idempotency_key="a"), new_task(key.secret, body, idempotency_key="b")
    )
    assert [outcome(each) for each in (first, second)] == [Created, Created]
    assert len(views) == 1
    assert (first.left, first.shown) == (second.left, second.shown)
    same = {"task_id": second.draft.task_id, "idempotency_key": "b"}
    assert dataclasses.replace(first.draft, **same) == second.draft


@pytest.mark.parametrize(
    ("body", "query", "headers", "said"),
    [
        (b"{", "", {}, (400, "TASK_INVALID_REQUEST")),
        ({"model": "unheard-of", "params": {}}, "", {}, (400, "TASK_UNSUPPORTED_MODEL")),
        (None, "a=b", {}, (400, "TASK_INVALID_REQUEST")),
        (None, "", {"content_type": "text/plain"}, (415, "TASK_UNSUPPORTED_MEDIA_TYPE")),
        (None, "", {"content_encoding": "gzip"}, (415, "TASK_UNSUPPORTED_MEDIA_TYPE")),
        (None, "", {"host": "evil.example"}, (400, "TASK_INVALID_REQUEST")),
        (None, "", {"idempotency_key": "k" * 256}, (400, "TASK_INVALID_REQUEST")),
    ],
)
def test_what_the_view_refuses_is_refused_after_others_were_taken(key, body, query, headers, said):
    named = {"idempotency_key": "a"}
    good, bad = examined(new_task(key.secret, **named), new_task(key.secret, body, query, **named | headers))
    assert (outcome(good), outcome(bad)) == (Created, said)


def test_a_repeated_idempotency_key_is_refused_after_others_were_taken(key):
    good, twice = (new_task(key.secret, idempotency_key=name) for name in "ab")
    twice.scope["headers"].append((b"idempotency-key", b"c"))
    assert [outcome(each) for each in examined(good, twice)] == [Created, (400, "TASK_INVALID_REQUEST")]


def test_a_subscription_and_a_pause_are_told_after_others_were_taken(key):
    assert [outcome(each) for each in examined(new_task(key.secret))] == [Created]
    type(key.account).objects.update(billing="subscription")
    assert [outcome(each)[1] for each in examined(new_task(key.secret))] == ["TASK_BILLING_UNSUPPORTED"]
    switches.pause()
    assert [outcome(each)[0] for each in examined(new_task(key.secret))] == [503]


def test_each_counts_once_against_the_rate(key, settings):
    settings.RATE_LIMITS = {"submit": 2}
    refused = [new_task(key.secret, b"{"), new_task(key.secret)]
    found = examined(new_task(key.secret), new_task(key.secret), *refused)
    assert [outcome(each) for each in found] == [Created, Created, *[(429, "TASK_RATE_LIMITED")] * 2]


def test_a_replay_and_a_storage_to_look_after_are_left_to_other_threads(key, monkeypatch):
    (first,) = examined(new_task(key.secret, idempotency_key="a"))
    assert outcome(first) is Created
    assert [type(each).__name__ for each in examined(new_task(key.secret, idempotency_key="a"))] == ["Handed"]
    monkeypatch.setattr(blobs.backends.health(), "until", 0.0)
    assert [type(each).__name__ for each in examined(new_task(key.secret, idempotency_key="b"))] == ["Handed"]


def test_a_group_that_cannot_be_let_in_is_told_so_by_its_views(key):
    with broken("accounts_keysecret"):
        found = examined(new_task(key.secret), new_task(key.secret))
    assert [outcome(each) for each in found] == [(503, "TASK_SERVICE_UNAVAILABLE")] * 2


def test_the_drafts_of_a_group_are_written_together(key, monkeypatch):
    groups, submit = [], joint_submission._submit_shared

    def noting(drafts: Any) -> Any:
        groups.append(len(drafts))
        return submit(drafts)

    monkeypatch.setattr(joint_submission._shared_line, "_work", noting)
    assert {outcome(each) for each in examined(*(new_task(key.secret) for _ in range(5)))} == {Created}
    assert groups == [5]


@pytest.mark.parametrize(
    ("params", "is_quick"),
    [
        ({"prompt": "x" * 4000}, True),
        ({"prompt": "x" * posting.SMALL_BYTES}, False),
        ({"images": [{"image_url": data_url()}]}, False),
        ({"inputs": []}, False),
        ({"extra_body": {"a": [[]] * posting.MOST_VALUES}}, False),
        ({"extra_body": {"image": "DATA:image/png;base64,"}}, False),
    ],
)
def test_only_small_bodies_of_few_values_without_inputs_are_quick(params, is_quick):
    task = new_task("a", image_task() | {"params": params})
    assert posting.is_quick(task.scope, task.body) is is_quick


def test_an_input_may_be_spelled_with_escapes():
    for raw in (rb'{"\u0069mages"', rb'{"imag\u0065s"', rb'"d\u0061ta:', rb'"data\u003A', rb'"\u0044ata:'):
        task = new_task("a", raw)
        assert not posting.is_quick(task.scope, task.body), raw
    plain = new_task("a", {"prompt": "\u96ea <b>&</b>"})
    assert posting.is_quick(plain.scope, plain.body)


def test_a_client_that_leaves_while_its_group_is_at_work_leaves_no_body_open(key, monkeypatch):
    """A replay is handed on, but to nobody any more."""
    (first,) = examined(new_task(key.secret, idempotency_key="a"))
    assert outcome(first) is Created
    again, begun, goes_on = new_task(key.secret, idempotency_key="a"), threading.Event(), threading.Event()

    def held_up(group: Any) -> Any:
        begun.set()
        assert goes_on.wait(PATIENCE)
        return posting.examine(group)

    async def leave() -> None:
        asked = asyncio.create_task(posting.ask(again.scope, again.body))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        asked.cancel()
        await asyncio.wait([asked])
        assert asked.cancelled()

    monkeypatch.setattr(posting._new_tasks, "_work", held_up)
    asyncio.run(leave())
    assert not again.body.file.closed
    goes_on.set()
    posting._new_tasks.add(new_task(key.secret)).result(PATIENCE)  # in the group after it
    assert again.body.file.closed


def test_the_database_has_one_deadline_for_a_whole_group(key):
    assert [outcome(each) for each in examined(new_task(key.secret))] == [Created]
    snapshot.forget()
    tried: list[str] = []

    def use_up(run: Any, statement: str, *given: Any) -> Any:
        if "catalog_mediamodel" not in statement:
            return run(statement, *given)
        tried.append(statement)
        for budget in connection.execute_wrappers:
            if isinstance(budget, Budget):
                budget._left = 0
        raise OperationalError("the time is up")

    with connection.execute_wrapper(use_up):
        found = examined(*(new_task(key.secret) for _ in range(3)))
    assert all(isinstance(each, OperationalError) for each in found), found
    assert len(tried) == 1


def test_a_storage_that_is_due_in_a_moment_is_left_to_other_threads(key, monkeypatch):
    """The view would find it due."""
    monkeypatch.setattr(blobs.backends.health(), "until", time.monotonic() + blobs.backends.MOMENT_SECONDS / 2)
    assert [type(each).__name__ for each in examined(new_task(key.secret))] == ["Handed"]


def test_a_large_head_is_not_remembered(key):
    for name in ("a", "b"):
        task = new_task(key.secret, x_trace=name * posting.HEAD_BYTES)
        assert [outcome(each) for each in examined(task)] == [Created]
    assert not posting._heads._values
