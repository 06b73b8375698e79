"""Ends at the same time: one wins, and money, event and delivery follow it alone."""

import random
from functools import partial

import pytest

from billing.models import Hold, LedgerEntry
from callbacks.models import Delivery
from common.errors import NotCancelable
from tasks import cancellation, leases, lifecycle, paid_calls
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.models import ENDED, Call, Task, TaskEvent
from tests.tasks import steps

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("long_leases")]
ROUNDS = 10


def try_cancel(key_id: int, task_id: str) -> bool:
    try:
        cancellation.cancel(key_id, task_id)
    except NotCancelable:
        return False
    return True


def test_of_all_who_would_end_a_task_one_does(key, image_model, worker):
    for _ in range(ROUNDS):
        task = steps.start(key, worker, callback_url="https://hooks.example.com/")
        back = Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id, delay_seconds=60)
        jobs = [
            partial(steps.end, task, "succeeded"),
            partial(steps.end, task, "succeeded", success=steps.success(10_000)),
            partial(steps.end, task, "timeout"),
            partial(steps.end, task, "failed"),
            partial(steps.end, task, "failed", attempt=task.attempt - 1),
            partial(steps.end, task, "succeeded", attempt=task.attempt + 1),
            partial(queue.requeue, [back]),
            partial(try_cancel, key.id, task.id),
        ]
        random.shuffle(jobs)
        steps.at_once(jobs)
        if Task.objects.get(id=task.id).status == "queued":
            assert try_cancel(key.id, task.id)
        row = Task.objects.get(id=task.id)
        terminal = TaskEvent.objects.filter(task_id=task.id, status__in=ENDED)
        assert [event.status for event in terminal] == [row.status]
        assert Delivery.objects.filter(task_id=task.id).count() == 1
        assert Hold.objects.get(reference=task.id).state == ("settled" if row.status == "succeeded" else "released")
        assert LedgerEntry.objects.filter(reference=task.id).count() == (2 if row.status == "succeeded" else 0)
    assert steps.breaches() == []


def test_a_result_is_settled_once_by_many(key, image_model, worker):
    task = steps.start(key, worker)
    assert steps.at_once([partial(steps.end, task, "succeeded")] * 8).count(True) == 1
    key.account.refresh_from_db()
    assert (key.account.balance_micros, key.account.held_micros) == (9_960_000, 0)
    assert steps.breaches() == []


def test_overlapping_lists_in_any_order_end_every_task_once(key, other_key, image_model, worker):
    for owner in (key, other_key):
        steps.submitted_many(owner, 10)
    tasks = steps.claimed(worker)
    lists = [random.sample(tasks, len(tasks)) for _ in range(8)]
    ended = steps.at_once(
        [partial(lifecycle.end, [steps.ending(task, "succeeded") for task in mixed]) for mixed in lists]
    )
    assert sorted(task_id for ids in ended for task_id in ids) == sorted(task.id for task in tasks)
    assert steps.breaches() == []


def test_overlapping_returns_and_ends_do_not_block_each_other(key, image_model, worker):
    steps.submitted_many(key, 20)
    tasks = steps.claimed(worker)

    def give_back(mixed) -> frozenset[str]:
        returns = [Return(task_id=t.id, attempt=t.attempt, open_routes_id=t.open_routes_id) for t in mixed]
        return queue.requeue(returns)

    def end(mixed) -> frozenset[str]:
        return lifecycle.end([steps.ending(task, "failed") for task in mixed])

    jobs = [partial(job, random.sample(tasks, 12)) for job in (give_back, end) for _ in range(4)]
    moved = [task_id for ids in steps.at_once(jobs) for task_id in ids]
    assert len(moved) == len(set(moved)) == TaskEvent.objects.exclude(status="running").count() - 20
    assert steps.breaches() == []


def test_of_many_adopters_each_task_has_one(key, image_model, worker):
    steps.submitted_many(key, 20)
    assert len(steps.claimed(worker)) == 20
    steps.silence(worker)
    heirs = [steps.worker() for _ in range(8)]
    orphans = [orphan for found in steps.at_once([partial(leases.adopt, heir) for heir in heirs]) for orphan in found]
    assert len({orphan.task_id for orphan in orphans}) == len(orphans) == 20
    assert {orphan.attempt for orphan in orphans} == {2}
    assert set(Task.objects.values_list("attempt", flat=True)) == {2}


def test_an_adoption_races_with_the_old_workers_end(key, image_model, worker):
    for _ in range(ROUNDS):
        leases.heartbeat(worker)
        task = steps.start(key, worker)
        steps.silence(worker)
        has_ended, orphans = steps.at_once([partial(steps.end, task), partial(leases.adopt, steps.worker())])
        assert has_ended == (not orphans)
        for orphan in orphans:
            assert not steps.end(task)
            assert steps.end(task, "failed", attempt=orphan.attempt)
    assert steps.breaches() == []


def test_an_intent_is_committed_once_or_not_at_all(key, image_model, worker):
    for _ in range(ROUNDS):
        leases.heartbeat(worker)
        task = steps.start(key, worker)
        steps.silence(worker)
        calls, orphans = steps.at_once(
            [partial(paid_calls.intend, [steps.intent(task, worker)]), partial(leases.adopt, steps.worker())]
        )
        (orphan,) = orphans
        assert orphan.intents == tuple(call.id for call in calls.get(task.id, ()))
        steps.end(task, "failed", attempt=orphan.attempt)


def test_a_handle_is_kept_whoever_wins_the_end(key, image_model, worker):
    for _ in range(ROUNDS):
        task = steps.start(key, worker)
        call_id = steps.intended(task, worker)
        late = steps.CallEnd(id=call_id, state="late", outcome={"kind": "timeout"})
        steps.at_once(
            [
                partial(paid_calls.accept, call_id, {"id": "job-1"}, poll_after=0.0),
                partial(steps.end, task, "timeout", call=late),
            ]
        )
        call = Call.objects.get(id=call_id)
        assert (call.state, call.handle) == ("late", {"id": "job-1"})
        assert call.next_poll_at is not None
