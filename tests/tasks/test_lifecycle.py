"""The end of a task: status, ledger, result, paid call, event and callback row change together, once."""

from functools import partial

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Account
from billing.ledger import UnbalancedHold
from billing.models import Hold, LedgerEntry
from callbacks.models import Delivery
from tasks import lifecycle, paid_calls
from tasks.lifecycle import TRANSITIONS, Ending
from tasks.models import ENDED, LIVE, Asset, Call, Task, TaskEvent, TaskPayload
from tasks.paid_calls import CallEnd
from tests.rows import make_account, make_key
from tests.tasks import steps

HOOK = "https://hooks.example.com/path?q=1"


def figures(account: Account) -> tuple[int, int]:
    """(balance, held)"""
    account.refresh_from_db()
    return account.balance_micros, account.held_micros


def terminal(task_id: str) -> list[str]:
    return list(TaskEvent.objects.filter(task_id=task_id, status__in=ENDED).values_list("status", flat=True))


@pytest.fixture
def task(key, image_model, worker):
    """Running, with an estimate of 40,000."""
    return steps.start(key, worker)


@pytest.mark.parametrize(
    ("actual", "balance"),
    [(40_000, 9_960_000), (10_000, 9_990_000), (90_000, 9_910_000), (0, 10_000_000), (11_000_000, -1_000_000)],
)
def test_a_success_is_charged_its_actual_cost(key, task, actual, balance):
    assert steps.end(task, success=steps.success(actual))
    assert figures(key.account) == (balance, 0)
    row = Task.objects.get(id=task.id)
    assert (row.status, row.actual_micros, row.estimated_micros, row.progress) == ("succeeded", actual, 40_000, 100)
    assert Hold.objects.get(reference=task.id).state == "settled"
    assert steps.breaches() == []


@pytest.mark.parametrize("status", ["failed", "timeout"])
def test_any_other_end_releases_everything(key, task, status):
    assert steps.end(task, status)
    assert figures(key.account) == (10_000_000, 0)
    row = Task.objects.get(id=task.id)
    assert (row.status, row.actual_micros) == (status, 0)
    assert row.error == {"type": steps.FAILURE.type, "message": steps.FAILURE.message, "retryable": True}
    assert not LedgerEntry.objects.filter(reference=task.id).exists()
    assert steps.breaches() == []


def test_a_success_has_no_error_and_a_failure_no_result(key, image_model, worker):
    steps.submitted_many(key, 2)
    won, lost = steps.claimed(worker)
    lifecycle.end([steps.ending(won, "succeeded", success=steps.success(seconds=4.5)), steps.ending(lost, "failed")])
    assert [Task.objects.filter(id=t.id, error__isnull=True).exists() for t in (won, lost)] == [True, False]
    assert TaskPayload.objects.get(task_id=won.id).result == {"duration": 4.5}
    assert TaskPayload.objects.get(task_id=lost.id).result is None


def test_the_assets_of_a_success_are_numbered_in_order(task):
    steps.end(task, success=steps.success(assets=3))
    rows = Asset.objects.filter(task_id=task.id).order_by("position")
    assert list(rows.values_list("position", "storage_key")) == [(n, f"results/{n}") for n in range(3)]
    first = rows[0]
    assert (first.kind, first.content_type, first.size_bytes) == ("image", "image/png", 100)
    assert (first.width, first.height) == (8, 6)
    assert (first.duration_seconds, first.deleted_at) == (None, None)


def test_a_success_without_assets_is_one(task):
    assert steps.end(task, success=steps.success(assets=0))
    assert steps.breaches() == []


def test_an_end_is_one_event_with_the_attempt(task):
    steps.end(task)
    events = TaskEvent.objects.filter(task_id=task.id).order_by("id").values_list("status", "attempt")
    assert list(events) == [("queued", 0), ("running", 1), ("succeeded", 1)]


@pytest.mark.parametrize("status", ["succeeded", "failed", "timeout"])
def test_an_end_with_a_callback_url_owes_one_delivery(key, image_model, worker, status):
    task = steps.start(key, worker, callback_url=HOOK)
    steps.end(task, status)
    delivery = Delivery.objects.get()
    assert (delivery.id, delivery.task_id) == (f"{task.id}.1", task.id)
    assert (delivery.url, delivery.host, delivery.status, delivery.attempts) == (
        HOOK,
        "hooks.example.com:443",
        "pending",
        0,
    )
    assert delivery.next_attempt_at is not None


def test_a_cancellation_owes_its_delivery_too(key, image_model):
    task_id = steps.submitted(key, callback_url=HOOK)
    lifecycle.end([steps.cancellation_of(task_id)])
    assert Delivery.objects.get().task_id == task_id


def test_an_end_without_a_callback_url_owes_none(task):
    steps.end(task)
    assert not Delivery.objects.exists()


@pytest.mark.parametrize(
    ("first", "second"), [("succeeded", "succeeded"), ("succeeded", "timeout"), ("failed", "succeeded")]
)
def test_the_second_end_comes_too_late(key, task, first, second):
    assert steps.end(task, first)
    before = figures(key.account)
    assert not steps.end(task, second)
    assert figures(key.account) == before
    assert terminal(task.id) == [first]
    assert steps.breaches() == []


def test_another_attempt_cannot_end_a_task(task):
    assert not steps.end(task, attempt=0)
    assert not steps.end(task, attempt=2)
    assert terminal(task.id) == []
    assert not Asset.objects.exists()


def test_a_running_task_is_not_ended_as_a_queued_one(task):
    assert not lifecycle.end([steps.cancellation_of(task.id, attempt=task.attempt)])


def test_a_task_that_does_not_exist_is_stale(db):
    assert lifecycle.end([steps.cancellation_of("task_" + "0" * 26)]) == frozenset()


def test_stale_endings_leave_the_others_of_the_list_alone(key, image_model, worker):
    steps.submitted_many(key, 3)
    first, second, third = steps.claimed(worker)
    steps.end(second, "failed")
    endings = [steps.ending(task, "succeeded") for task in (first, second, third)]
    assert lifecycle.end(endings) == {first.id, third.id}
    assert figures(key.account) == (9_920_000, 0)
    assert Asset.objects.filter(task_id=second.id).count() == 0
    assert steps.breaches() == []


def test_a_hundred_ends_cost_as_many_statements_as_one(image_model, worker):
    rich = make_key(make_account("rich", max_running=200), max_queued=200, max_running=200)
    steps.submitted_many(rich, 101)
    one, *many = steps.claimed(worker, seats=200)
    with steps.captured() as of_one:
        lifecycle.end([steps.ending(one, "succeeded")])
    with steps.captured() as of_many:
        assert len(lifecycle.end([steps.ending(task, "succeeded") for task in many])) == 100
    assert len(of_many) == len(of_one) <= 10
    assert steps.breaches() == []


def test_a_transition_that_is_none_is_refused():
    for from_status, status in (("queued", "succeeded"), ("running", "canceled")):
        with pytest.raises(ValueError, match="no transition"):
            lifecycle.end([Ending(task_id="x", from_status=from_status, attempt=0, status=status)])


def test_the_transitions_are_the_contracts():
    allowed = {(old, new) for old, news in TRANSITIONS.items() for new in news}
    assert allowed == {
        ("queued", "running"),
        ("queued", "canceled"),
        ("queued", "timeout"),
        ("queued", "failed"),
        ("running", "queued"),
        ("running", "succeeded"),
        ("running", "failed"),
        ("running", "timeout"),
    }
    assert set(TRANSITIONS) == set(LIVE)


def test_a_success_without_its_cost_is_refused(task):
    with pytest.raises(ValueError, match="success"):
        steps.end(task, success=None)


def test_a_failure_with_assets_is_refused(task):
    with pytest.raises(ValueError, match="success"):
        steps.end(task, "failed", success=steps.success())


def test_a_list_names_each_task_once(task):
    with pytest.raises(ValueError, match="once"):
        lifecycle.end([steps.ending(task, "succeeded"), steps.ending(task, "timeout")])
    assert Task.objects.get(id=task.id).status == "running"


def test_a_broken_hold_stops_the_whole_end(key, task):
    Hold.objects.filter(reference=task.id).update(state="released")
    with pytest.raises(UnbalancedHold), transaction.atomic():
        steps.end(task)
    assert Task.objects.get(id=task.id).status == "running"
    assert terminal(task.id) == []
    assert figures(key.account) == (10_000_000, 40_000)


def test_the_database_refuses_a_second_terminal_event(key, task):
    steps.end(task)
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskEvent.objects.create(task_id=task.id, key=key.record, status="failed", attempt=1)


def test_the_database_refuses_a_row_that_contradicts_itself(task):
    for change in ({"status": "paused"}, {"status": "succeeded"}, {"actual_micros": 5}, {"estimated_micros": -1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Task.objects.filter(id=task.id).update(**change)


@pytest.mark.parametrize("state", ["done", "refused", "unknown", "late"])
def test_the_paid_call_ends_with_its_task(task, worker, state):
    call_id = steps.intended(task, worker)
    end = CallEnd(id=call_id, state=state, outcome={"kind": "x"}, cost_micros=7)
    steps.end(task, "failed", call=end)
    call = Call.objects.get()
    assert (call.state, call.outcome, call.cost_micros) == (state, {"kind": "x"}, 7)
    assert (call.ended_at is None) == (state == "late")


def test_the_call_of_a_stale_ending_is_left_alone(task, worker):
    call_id = steps.intended(task, worker)
    steps.end(task, "failed", attempt=9, call=CallEnd(id=call_id, state="done"))
    assert Call.objects.get().state == "intent"


@pytest.mark.parametrize(
    "store", [partial(paid_calls.accept, poll_after=0.0), paid_calls.keep], ids=["handle", "result"]
)
def test_a_call_given_up_as_unknown_is_followed_when_its_answer_is_there(task, worker, store):
    call_id = steps.intended(task, worker)
    store(call_id, {"id": "job-1"})
    steps.end(task, "failed", call=CallEnd(id=call_id, state="unknown", outcome={"kind": "crash"}))
    call = Call.objects.get()
    assert (call.state, call.outcome, call.ended_at) == ("late", {"kind": "crash"}, None)
    assert call.next_poll_at is not None


def test_ending_clears_the_wait(key, image_model):
    task_id = steps.submitted(key)
    steps.age(task_id, "not_before", 60)
    lifecycle.end([steps.cancellation_of(task_id)])
    assert Task.objects.get(id=task_id).not_before is None


def test_a_queued_task_ends_without_charge(key, image_model):
    for status in ("timeout", "failed", "canceled"):
        task_id = steps.submitted(key)
        ended = lifecycle.end([Ending(task_id=task_id, from_status="queued", attempt=0, status=status)])
        assert (ended, figures(key.account)) == ({task_id}, (10_000_000, 0)), status
    assert steps.breaches() == []


def test_ends_of_several_accounts_charge_each_its_own(key, other_key, image_model, worker):
    for owner in (key, other_key):
        steps.submitted(owner)
    tasks = steps.claimed(worker)
    lifecycle.end([steps.ending(task, "succeeded", success=steps.success(10_000 * task.key_id)) for task in tasks])
    for owner in (key, other_key):
        assert figures(owner.account) == (10_000_000 - 10_000 * owner.id, 0)
    assert steps.breaches() == []
