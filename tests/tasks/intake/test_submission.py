"""Submissions become queued tasks, in one transaction and a fixed number of statements."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import IntegrityError, connection

from accounts.authentication import Replay, admit
from billing.models import Hold, LedgerEntry
from common.errors import (
    InsufficientBalance,
    InvalidRequest,
    QueueLimitExceeded,
    StorageUnavailable,
)
from config.settings import asset_storage
from tasks.intake import drafts, submission
from tasks.intake.limits import Standing
from tasks.intake.submission import Created
from tasks.models import RouteSet, Task, TaskEvent, TaskPayload
from tests.billing import budget_steps
from tests.rows import make_account, make_key
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url

STATEMENTS = 2 if connection.vendor == "postgresql" else 6
METADATA = {
    "order": "A-17",
    'it\'s "50%"': "ü\\\n",
    "n": 3,
    "x": 0.25,
    "big": 2**53,
    "yes": True,
    "no": False,
    "none": None,
}


def files(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def with_images(*contents: bytes) -> dict:
    return {"prompt": "x", "images": [{"image_url": data_url(content=data_url_bytes(c))} for c in contents]}


def data_url_bytes(content: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + content


def test_a_submission_becomes_a_queued_task(key, image_model):
    task = Task.objects.get(id=steps.submitted(key, metadata=METADATA, callback_url="https://hooks.example.com/x"))
    assert (task.status, task.attempt, task.origin, task.modality) == ("queued", 0, "async", "image")
    assert (task.key_id, task.account_id, task.secret_id) == (key.id, key.account.pk, key.record.secrets.get().pk)
    assert (task.model_name, task.media_model_id) == ("aurora-image", image_model.pk)
    assert (task.estimated_micros, task.actual_micros, task.idempotency_key) == (40_000, None, None)
    assert task.callback_url == "https://hooks.example.com/x"
    assert task.metadata == METADATA


def test_metadata_may_be_absent_or_empty(key, image_model):
    absent, empty = (Task.objects.get(id=steps.submitted(key, **fields)) for fields in ({}, {"metadata": {}}))
    assert (absent.metadata, absent.callback_url, empty.metadata) == (None, None, {})


def test_the_times_are_the_databases_also_in_the_answer(key, image_model):
    before = steps.clock()
    outcome = submission.submit_one(steps.drafted(key))
    task = Task.objects.get(id=outcome.task_id)
    assert before <= task.created_at == outcome.created_at <= steps.clock()
    assert (task.deadline_at - task.created_at).total_seconds() == pytest.approx(86_400, abs=0.01)


def test_the_estimate_is_held_and_nothing_is_booked(key, image_model):
    task_id = steps.submitted(key, params={"prompt": "x", "n": 3, "image_size": "2K"})
    key.account.refresh_from_db()
    assert (key.account.balance_micros, key.account.held_micros) == (10_000_000, 240_000)
    hold = Hold.objects.get(reference=task_id)
    assert (hold.amount_micros, hold.state, hold.account_id) == (240_000, "open", key.account.pk)
    assert not LedgerEntry.objects.filter(reference=task_id).exists()
    assert steps.breaches() == []


def test_the_first_event_is_recorded(key, image_model):
    task_id = steps.submitted(key)
    assert list(TaskEvent.objects.values_list("task_id", "key_id", "status", "attempt")) == [
        (task_id, key.id, "queued", 0)
    ]


def test_the_params_and_the_trace_are_kept(key, image_model):
    payload = TaskPayload.objects.get(task_id=steps.submitted(key, params={"prompt": "a fox", "n": 2}))
    assert payload.params == {"prompt": "a fox", "n": 2, "image_size": "1K", "aspect_ratio": "1:1"}
    assert payload.trace["plan"] == "standard"
    assert [route["kept"] for route in payload.trace["routes"]] == [True]


def test_the_price_is_frozen_on_the_task(key, image_model):
    task_id = steps.submitted(key, params={"prompt": "x", "n": 2})
    image_model.prices = {"1K": "9"}
    image_model.save()
    price = Task.objects.get(id=task_id).price
    assert price == {"mode": "image_matrix", "tier": "1K", "unit_micros": 40_000, "quantity": 2, "results": 2}


def test_a_price_beyond_every_column_is_refused_as_unaffordable(key, video_model):
    video_model.prices = {"*": "1000000000"}
    video_model.save()
    draft = steps.drafted(key, steps.VIDEO, params={**steps.VIDEO["params"], "duration": 12})
    assert isinstance(submission.submit_one(draft), InsufficientBalance)


def test_an_invalid_body_is_refused_before_anything_is_stored(key, image_model):
    with pytest.raises(InvalidRequest, match=r"params\.n"):
        steps.prepared(key, params={"prompt": "x", "n": 99})
    assert not Task.objects.exists()
    assert not RouteSet.objects.exists()


def test_tasks_of_the_same_routes_share_a_route_set(key, image_model):
    tasks = Task.objects.filter(id__in=steps.submitted_many(key, 3))
    assert len(set(tasks.values_list("route_set_id", "open_routes_id"))) == 1


def test_a_repeated_idempotency_key_returns_the_first_task(key, image_model):
    task_id = steps.submitted(key, idempotency_key="k", digest="a" * 64)
    again = submission.submit_one(steps.drafted(key, idempotency_key="k", digest="b" * 64, params={"prompt": "other"}))
    assert again == Replay(task_id=task_id, body_digest="a" * 64)
    assert (Task.objects.count(), Hold.objects.count(), TaskEvent.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize("held_back", [{"max_queued": 2}, {"usd": "0.09"}])
def test_a_repeated_key_is_no_refusal_where_nothing_more_fits(image_model, held_back):
    key = make_key(make_account("full", **({"usd": "100"} | held_back)))
    first = steps.submitted(key, idempotency_key="k")
    drafts = [steps.drafted(key, idempotency_key=k) for k in ("k", "a", "b", "k")]
    outcomes = submission.submit(drafts)
    assert [type(outcome) for outcome in outcomes[:2]] == [Replay, Created]
    assert isinstance(outcomes[2], QueueLimitExceeded | InsufficientBalance)
    assert [outcomes[n].task_id for n in (0, 3)] == [first, first]
    assert steps.breaches() == []


def test_a_repeated_key_keeps_no_other_of_its_list_back(key, image_model):
    first = steps.submitted(key, idempotency_key="k")
    outcomes = submission.submit([steps.drafted(key, idempotency_key=k) for k in ("a", "k", None)])
    assert [type(outcome) for outcome in outcomes] == [Created, Replay, Created]
    assert outcomes[1].task_id == first
    assert steps.breaches() == []


def test_the_database_itself_refuses_a_second_task_of_a_key(key, image_model):
    steps.submitted(key, idempotency_key="k")
    with pytest.raises(IntegrityError):
        submission.insert([steps.drafted(key, idempotency_key="k")], Standing(live={key.account.pk: 0}))


def test_a_full_queue_writes_nothing(account, image_model):
    key = make_key(account, "small", max_queued=1)
    steps.submitted(key)
    assert isinstance(submission.submit_one(steps.drafted(key)), QueueLimitExceeded)
    account.refresh_from_db()
    assert (Task.objects.count(), TaskEvent.objects.count(), account.held_micros) == (1, 1, 40_000)


def test_a_list_is_decided_one_by_one_in_order(image_model):
    key = make_key(make_account("poor", usd="0.1"))
    drafts = [steps.drafted(key, idempotency_key=k) for k in ("a", "b", "a", "c")]
    outcomes = submission.submit(drafts)
    assert [type(outcome).__name__ for outcome in outcomes] == ["Created", "Created", "Replay", "InsufficientBalance"]
    assert outcomes[2].task_id == drafts[0].task_id
    assert set(Task.objects.values_list("id", flat=True)) == {drafts[0].task_id, drafts[1].task_id}
    assert steps.breaches() == []


def test_a_list_of_several_accounts_charges_each_its_own(key, other_key, image_model):
    submission.submit([steps.drafted(owner) for owner in (key, other_key, key)])
    assert [Task.objects.filter(account=owner.account).count() for owner in (key, other_key)] == [2, 1]
    assert steps.breaches() == []


def test_an_empty_list_is_no_submission(db):
    assert submission.submit([]) == []


def test_data_urls_lie_in_storage_and_not_in_the_database(key, image_model, folder):
    task_id = steps.submitted(key, params=with_images(b"1", b"22"))
    stored = [image["stored"] for image in TaskPayload.objects.get(task_id=task_id).params["images"]]
    assert [(folder / file["key"]).read_bytes()[8:] for file in stored] == [b"1", b"22"]
    assert [file["size_bytes"] for file in stored] == [9, 10]


def test_a_refused_submission_leaves_no_data_urls(image_model, folder):
    key = make_key(make_account("poor", usd="0.01"))
    assert isinstance(submission.submit_one(steps.drafted(key, params=with_images(b"1"))), InsufficientBalance)
    assert files(folder) == 0


def test_a_replay_leaves_only_the_first_tasks_data_urls(key, image_model, folder):
    for _ in range(2):
        submission.submit_one(steps.drafted(key, params=with_images(b"1"), idempotency_key="k"))
    assert files(folder) == 1


def test_a_failed_transaction_leaves_no_data_urls(key, image_model, folder):
    draft = steps.drafted(key, params=with_images(b"1"))
    submission.insert([draft], Standing(live={draft.caller.account_id: 0}))
    with pytest.raises(IntegrityError):
        submission.submit_one(draft)
    assert files(folder) == 0


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """No file of this process can grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills_up_keeps_none_of_the_data_urls(key, image_model, folder):
    steps.drafted(key)
    prepared, caller = steps.prepared(key, params=with_images(b"1", bytes(200_000))), steps.admitted(key).caller
    with full_disk(100_000), pytest.raises(StorageUnavailable):
        drafts.draft(prepared, caller=caller, body_digest="", idempotency_key=None)
    assert files(folder) == 0


def test_a_storage_that_is_away_does_not_hide_the_refusal(image_model, tmp_path, settings, folder):
    key = make_key(make_account("poor", usd="0.01"))
    draft = steps.drafted(key, params=with_images(b"1"))
    blocked = tmp_path / "blocked"
    blocked.write_bytes(b"")
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(f"file://{blocked}")}
    assert isinstance(submission.submit_one(draft), InsufficientBalance)


def test_a_submission_costs_few_statements_in_one_transaction(transactional_db, key, image_model):
    steps.submitted(key)
    with steps.captured() as statements, steps.transactions() as begun:
        steps.submitted(key, idempotency_key="k", metadata={"a": "b"})
    assert len(statements) == 1 + STATEMENTS, "\n".join(statements)
    assert len(begun) == 1


def test_a_list_of_sixteen_costs_as_many_as_one(key, image_model):
    steps.submitted(key)
    drafts = [steps.drafted(key, idempotency_key=f"k{number}") for number in range(16)]
    with steps.captured() as statements:
        outcomes = submission.submit(drafts)
    assert all(isinstance(outcome, Created) for outcome in outcomes)
    assert len(statements) == STATEMENTS, "\n".join(statements)


def test_a_callback_costs_one_statement_more(key, image_model):
    steps.submitted(key)
    drafts = [steps.drafted(key, callback_url="https://hooks.example.com/") for _ in range(3)]
    with steps.captured() as statements:
        submission.submit(drafts)
    assert len(statements) == STATEMENTS + 1, "\n".join(statements)


def test_a_budget_costs_two_statements_more(key, image_model):
    budget_steps.limit(key.record, day="1", month="1")
    steps.submitted(key)
    drafts = [steps.drafted(key) for _ in range(3)]
    with steps.captured() as statements:
        submission.submit(drafts)
    assert len(statements) == STATEMENTS + 2, "\n".join(statements)
    assert budget_steps.used(key) == {"key day": 160_000, "key month": 160_000}


def test_a_replay_costs_one_statement_to_notice(key, image_model, django_assert_num_queries):
    task_id = steps.submitted(key, idempotency_key="k")
    with django_assert_num_queries(1):
        assert admit(f"Bearer {key.secret}", idempotency_key="k").replay.task_id == task_id


def test_a_route_set_is_found_without_a_statement_once_known(key, image_model, django_assert_num_queries):
    draft = steps.drafted(key)
    with django_assert_num_queries(0):
        again = drafts.draft(draft.prepared, caller=draft.caller, body_digest="", idempotency_key=None)
    assert again.route_set_id == draft.route_set_id
