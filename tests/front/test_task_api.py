"""Requests of the Task API that are served in batches: each gets what its view would have said to it alone."""

import asyncio
import contextvars
import gc
import io
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse

from catalog import snapshot
from common.http import front_body
from common.http.front_body import Body
from front import task_api
from front.task_api import ApiCall
from storage import blobs
from tasks import switches
from tasks.intake import submission as intake
from tasks.intake.drafts import Draft
from tasks.intake.submission import Created
from tasks_api.authentication import AuthResult
from tasks_api.responses import PendingSubmission
from tasks_api.submissions import TasksView
from tasks_api.views import TaskDetailView
from tests.rows import make_account, make_key, make_task
from tests.scopes import scope
from tests.tasks.request.param_requests import data_url
from tests.tasks.steps import captured
from tests.tasks_api.asking import image_task
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

ABSENT = "task_" + "0" * 26


@pytest.fixture(autouse=True)
def healthy_storage(image_model, monkeypatch) -> None:
    blobs.backends.health().check()
    monkeypatch.setattr(blobs.backends.health(), "until", time.monotonic() + PATIENCE)  # however slow the machine


@pytest.fixture
def views(monkeypatch) -> list[str]:
    """The views whose handlers have been called, by name."""
    seen: list[str] = []
    for view in (TasksView, TaskDetailView):
        initial = view.initial

        def noting(self: Any, *given: Any, _initial: Any = initial, **named: Any) -> None:
            seen.append(type(self).__name__)
            _initial(self, *given, **named)

        monkeypatch.setattr(view, "initial", noting)
    return seen


def call(method: str, path: str, secret: str, raw: bytes = b"", query: str = "", **headers: str) -> ApiCall:
    asked = scope(method, path, query, **{"authorization": f"Bearer {secret}", **headers})
    file: Any = io.BytesIO(raw)
    return ApiCall(scope=asked, body=Body(file=file, size=len(raw)), context=contextvars.copy_context())


def submission(secret: str, body: Any = None, query: str = "", **headers: str) -> ApiCall:
    raw = body if isinstance(body, bytes) else json.dumps(image_task() if body is None else body).encode()
    return call("POST", "/v1/tasks", secret, raw, query, **{"content_type": "application/json", **headers})


def read(task_id: str, secret: str, **headers: str) -> ApiCall:
    return call("GET", f"/v1/tasks/{task_id}", secret, **headers)


def served(*calls: ApiCall) -> list[Any]:
    return list(task_api.serve_batch(calls))


def outcome(found: Any) -> Any:
    """Status and error type of a response; of a submission, what has become of its draft; else what it is."""
    if isinstance(found, PendingSubmission):
        return type(found.outcome.result(PATIENCE))
    if isinstance(found, HttpResponse):
        return found.status_code, (json.loads(found.content).get("error") or {}).get("type")
    return type(found)


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


def test_every_request_of_a_batch_meets_its_view(key, views):
    task_id = make_task(key).id
    found = served(*(submission(key.secret) for _ in range(3)), submission(key.secret, b"{"), read(task_id, key.secret))
    assert [outcome(each) for each in found] == [Created] * 3 + [(400, "TASK_INVALID_REQUEST"), (200, None)]
    assert views == ["TasksView"] * 4 + ["TaskDetailView"]


def test_a_batch_of_submissions_is_authenticated_by_one_statement(key):
    other = make_key(make_account("other"))
    with captured() as statements:
        found = served(
            submission(key.secret),
            submission("dr-task-nobody"),
            submission(other.secret, {"model": "aurora-image"}),
            submission(other.secret),
        )
    assert len([sent for sent in statements if "accounts_keysecret" in sent]) == 1, statements
    refused = [(401, "authentication_error"), (400, "TASK_INVALID_REQUEST")]
    assert [outcome(each) for each in found] == [Created, *refused, Created]
    assert [found[n].draft.caller.key_id for n in (0, 3)] == [key.id, other.id]


def test_a_batch_of_reads_takes_two_statements(key, other_key):
    mine, other = make_task(key, "queued").id, make_task(other_key).id
    with captured() as statements:
        found = served(
            read(mine, key.secret),
            read(other, key.secret),
            read(other, other_key.secret),
            read(mine, other_key.secret),
            read(ABSENT, key.secret),
            read(mine, "dr-task-nobody"),
            read(mine, key.secret),
        )
    assert [each.status_code for each in found] == [200, 404, 200, 404, 404, 401, 200]
    assert [json.loads(found[place].content)["id"] for place in (0, 2, 6)] == [mine, other, mine]
    assert len([sent for sent in statements if "PRAGMA" not in sent]) == 2, statements


@pytest.mark.parametrize(
    ("body", "query", "headers", "said"),
    [
        (b"{", "", {}, (400, "TASK_INVALID_REQUEST")),
        (b"", "", {}, (400, "TASK_INVALID_REQUEST")),
        ({"model": "unheard-of", "params": {}}, "", {}, (400, "TASK_UNSUPPORTED_MODEL")),
        (None, "a=b", {}, (400, "TASK_INVALID_REQUEST")),
        (None, "", {"content_type": "text/plain"}, (415, "TASK_UNSUPPORTED_MEDIA_TYPE")),
        (None, "", {"content_type": "application/json; charset=latin-1"}, (415, "TASK_UNSUPPORTED_MEDIA_TYPE")),
        (None, "", {"content_encoding": "gzip"}, (415, "TASK_UNSUPPORTED_MEDIA_TYPE")),
        (None, "", {"idempotency_key": "k" * 256}, (400, "TASK_INVALID_REQUEST")),
    ],
)
def test_what_a_view_refuses_is_refused_beside_others_that_are_taken(key, body, query, headers, said):
    named = {"idempotency_key": "a"}
    good, bad = served(submission(key.secret, **named), submission(key.secret, body, query, **named | headers))
    assert (outcome(good), outcome(bad)) == (Created, said)


def test_a_repeated_idempotency_key_is_refused(key):
    good, twice = (submission(key.secret, idempotency_key=name) for name in "ab")
    twice.scope["headers"].append((b"idempotency-key", b"c"))
    assert [outcome(each) for each in served(good, twice)] == [Created, (400, "TASK_INVALID_REQUEST")]


def test_a_subscription_and_a_pause_are_told(key):
    type(key.account).objects.update(billing="subscription")
    assert [outcome(each)[1] for each in served(submission(key.secret))] == ["TASK_BILLING_UNSUPPORTED"]
    switches.pause()
    assert [outcome(each)[0] for each in served(submission(key.secret))] == [503]


def test_each_counts_once_against_the_rate(key, settings):
    settings.RATE_LIMITS = {"submit": 2}
    refused = [submission(key.secret, b"{"), submission(key.secret)]
    found = served(submission(key.secret), submission(key.secret), *refused)
    assert [outcome(each) for each in found] == [Created, Created, *[(429, "TASK_RATE_LIMITED")] * 2]


@pytest.mark.parametrize("part", ["accounts_keysecret", "tasks_taskpayload"])
def test_a_database_that_is_away_is_told_to_each_reader_and_asked_once(key, part):
    task_id = make_task(key).id
    with broken(part) as tried:
        found = served(*[read(task_id, key.secret) for _ in range(3)])
    assert len(tried) == 1
    assert [outcome(each) for each in found] == [(503, "TASK_SERVICE_UNAVAILABLE")] * 3


def test_a_batch_that_cannot_be_authenticated_is_told_so_by_its_views(key, views):
    with broken("accounts_keysecret"):
        found = served(submission(key.secret), submission(key.secret))
    assert [outcome(each) for each in found] == [(503, "TASK_SERVICE_UNAVAILABLE")] * 2
    assert views == ["TasksView"] * 2


def test_a_database_that_goes_away_under_a_batch_is_asked_once_by_its_views(key):
    snapshot.forget()
    with broken("catalog_mediamodel") as tried:
        found = served(*(submission(key.secret) for _ in range(3)))
    assert [outcome(each) for each in found] == [(503, "TASK_SERVICE_UNAVAILABLE")] * 3
    assert len(tried) == 1


def test_a_request_that_django_cannot_read_fails_alone(key):
    task_id = make_task(key).id
    worse = read(task_id, key.secret)
    worse.scope["query_string"] = b"\xff"
    assert [outcome(each) for each in served(worse, read(task_id, key.secret))] == [UnicodeDecodeError, (200, None)]


def test_a_replay_and_a_storage_to_look_after_are_left_to_other_threads(key, monkeypatch):
    assert [outcome(each) for each in served(submission(key.secret, idempotency_key="a"))] == [Created]
    assert [type(each) for each in served(submission(key.secret, idempotency_key="a"))] == [AuthResult]
    soon = time.monotonic() + blobs.backends.MOMENT_SECONDS / 2
    for until in (0.0, soon):  # at once, or while the view is at work
        monkeypatch.setattr(blobs.backends.health(), "until", until)
        assert [type(each) for each in served(submission(key.secret, idempotency_key="b"))] == [AuthResult]


def test_the_drafts_of_a_batch_are_written_together(key, monkeypatch):
    groups, submit = [], intake._submit_shared

    def noting(drafts: Any) -> Any:
        groups.append(len(drafts))
        return submit(drafts)

    monkeypatch.setattr(intake._shared_line, "_work", noting)
    assert {outcome(each) for each in served(*(submission(key.secret) for _ in range(5)))} == {Created}
    assert groups == [5]


@pytest.mark.parametrize(
    ("params", "is_short"),
    [
        ({"prompt": "x" * 4000}, True),
        ({"prompt": "x" * task_api.SMALL_BYTES}, False),
        ({"images": [{"image_url": data_url()}]}, False),
        ({"inputs": []}, False),
        ({"extra_body": {"a": [[]] * task_api.MOST_VALUES}}, False),
        ({"extra_body": {"image": "DATA:image/png;base64,"}}, False),
    ],
)
def test_only_small_bodies_of_few_values_without_inputs_are_short(params, is_short):
    asked = submission("a", image_task() | {"params": params})
    assert task_api.is_short_submission(asked.scope, asked.body) is is_short


def test_an_input_may_be_spelled_with_escapes():
    for raw in (rb'{"\u0069mages"', rb'{"imag\u0065s"', rb'"d\u0061ta:', rb'"data\u003A', rb'"\u0044ata:'):
        asked = submission("a", raw)
        assert not task_api.is_short_submission(asked.scope, asked.body), raw
    plain = submission("a", {"prompt": "\u96ea <b>&</b>"})
    assert task_api.is_short_submission(plain.scope, plain.body)


def test_only_reads_of_one_task_are_read_in_batches():
    task = f"/v1/tasks/{ABSENT}"
    others = [
        ("POST", task),
        ("GET", "/v1/tasks"),
        ("GET", f"{task}/trace"),
        ("GET", "/v1/tasks/task_x"),
        ("PUT", task),
    ]
    assert [call(*each, "a").task_id for each in others] == [None] * len(others)
    assert {call(method, task, "a").task_id for method in ("GET", "HEAD")} == {ABSENT}


def test_a_client_that_leaves_while_its_batch_is_at_work_leaves_no_body_open(key, monkeypatch):
    """A replay goes on on a thread of its own, but nobody waits for it any more."""
    assert [outcome(each) for each in served(submission(key.secret, idempotency_key="a"))] == [Created]
    again, begun, goes_on = submission(key.secret, idempotency_key="a"), threading.Event(), threading.Event()

    def held_up(batch: Any) -> Any:
        begun.set()
        assert goes_on.wait(PATIENCE)
        return task_api.serve_batch(batch)

    async def leave() -> None:
        asked = asyncio.create_task(task_api.answer(again.scope, again.body))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        asked.cancel()
        await asyncio.wait([asked])
        assert asked.cancelled()

    monkeypatch.setattr(task_api._submissions, "_work", held_up)
    asyncio.run(leave())
    assert not again.body.file.closed
    goes_on.set()
    task_api._submissions.add(submission(key.secret)).result(PATIENCE)  # in the batch after it
    assert again.body.file.closed


def test_an_accepted_submission_has_the_headers_of_its_view_and_of_its_receipt(key):
    async def answered() -> Any:
        asked = submission(key.secret)
        return await task_api.answer(asked.scope, asked.body)

    answer = asyncio.run(answered())
    headers = dict(answer.headers)
    document = json.loads(answer.body)
    assert answer.status == 202
    assert headers[b"location"].decode() == f"/v1/tasks/{document['id']}"
    assert headers[b"content-type"] == b"application/json"
    assert headers[b"content-length"] == str(len(answer.body)).encode()
    assert headers[b"x-content-type-options"] == b"nosniff"


def test_a_draft_that_cannot_be_written_is_answered_in_the_documented_shape(key):
    type(key.account).objects.update(balance_micros=0)

    async def answered() -> Any:
        asked = submission(key.secret)
        return await task_api.answer(asked.scope, asked.body)

    answer = asyncio.run(answered())
    assert (answer.status, json.loads(answer.body)["error"]["type"]) == (403, "TASK_INSUFFICIENT_BALANCE")


def test_nothing_of_a_request_waits_for_a_search_of_cycles(key):
    def kept() -> list[Any]:
        return [each for each in gc.get_objects() if isinstance(each, TasksView | TaskDetailView | Draft)]

    task_id = make_task(key).id
    gc.collect()
    gc.disable()
    try:
        of_others = kept()
        for found in served(submission(key.secret), submission(key.secret, b"{"), read(task_id, key.secret)):
            if isinstance(found, PendingSubmission):
                found.complete(found.outcome.result(PATIENCE))
        del found
        assert [each for each in kept() if not any(each is other for other in of_others)] == []
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "path", ["/v1/tasks", "/v1/tasks/quote", "/v1/videos", "/v1/images/generations", "/v1/images/edits"]
)
def test_a_body_that_was_not_read_is_asked_for_again_once_its_key_opens(key, path):
    """Nobody could send it when it came; a 400 would tell its client to mend what is right."""

    def answered(secret: str) -> Any:
        types = {"content_type": "multipart/form-data; boundary=b" if path.endswith("edits") else "application/json"}
        asked = scope("POST", path, authorization=f"Bearer {secret}", **types)
        return asyncio.run(task_api.answer(asked, front_body.unread()))

    opened, closed = answered(key.secret), answered("dr-task-nobody")
    assert (opened.status, closed.status) == (503, 401)
    assert b"Send it again" in opened.body
    assert int(dict(opened.headers)[b"retry-after"]) >= 1
