"""The client's cancel, and its race with the claim."""

from functools import partial

import pytest

from common.errors import NotCancelable, TaskNotFound
from tasks import lifecycle
from tasks.cancellation import cancel, cancel_by_operator
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.models import Task, TaskEvent
from tests.rows import make_key
from tests.tasks import steps


def status(task_id: str) -> str:
    return Task.objects.get(id=task_id).status


def test_a_queued_task_is_canceled_and_its_money_released(key, image_model):
    task_id = steps.submitted(key)
    cancel(key.id, task_id)
    key.account.refresh_from_db()
    assert (status(task_id), key.account.held_micros, key.account.balance_micros) == ("canceled", 0, 10_000_000)


def test_a_second_cancel_changes_nothing(key, image_model):
    task_id = steps.submitted(key, callback_url="https://hooks.example.com/")
    cancel(key.id, task_id)
    finished_at = Task.objects.get(id=task_id).finished_at
    cancel(key.id, task_id)
    assert Task.objects.get(id=task_id).finished_at == finished_at
    assert TaskEvent.objects.filter(task_id=task_id, status="canceled").count() == 1
    assert steps.breaches() == []


def test_a_running_task_cannot_be_canceled(key, image_model, worker):
    task = steps.start(key, worker)
    with pytest.raises(NotCancelable, match="running"):
        cancel(key.id, task.id)
    assert status(task.id) == "running"


def test_a_task_that_ended_otherwise_cannot_be_canceled(key, image_model, worker):
    for end in ("succeeded", "failed", "timeout"):
        task = steps.start(key, worker)
        steps.end(task, end)
        with pytest.raises(NotCancelable, match=end):
            cancel(key.id, task.id)
        assert status(task.id) == end


def test_a_requeued_task_can_be_canceled(key, image_model, worker):
    task = steps.start(key, worker)
    queue.requeue([Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id)])
    cancel(key.id, task.id)
    assert status(task.id) == "canceled"
    assert steps.breaches() == []


def test_another_keys_task_does_not_exist(account, key, other_key, image_model):
    task_id = steps.submitted(key)
    for stranger in (other_key, make_key(account, "sibling")):
        with pytest.raises(TaskNotFound):
            cancel(stranger.id, task_id)
    with pytest.raises(TaskNotFound):
        cancel(key.id, "task_" + "0" * 26)
    assert status(task_id) == "queued"


def test_an_operator_cancels_the_queued_task_of_any_key(key, image_model, worker):
    task_id = steps.submitted(key)
    cancel_by_operator(task_id, by="ada")
    assert status(task_id) == "canceled"
    running = steps.start(key, worker)
    with pytest.raises(NotCancelable, match="running"):
        cancel_by_operator(running.id, by="ada")
    with pytest.raises(TaskNotFound):
        cancel_by_operator("task_" + "0" * 26, by="ada")
    assert steps.breaches() == []


@pytest.mark.parametrize("rounds", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_a_cancel_races_with_the_claim_and_one_of_them_wins(transactional_db, key, image_model, worker, rounds):
    def try_cancel(task_id: str) -> bool:
        try:
            cancel(key.id, task_id)
        except NotCancelable:
            return False
        return True

    canceled = 0
    for _ in range(rounds):
        task_id = steps.submitted(key)
        has_canceled, claimed = steps.at_once([partial(try_cancel, task_id), partial(steps.claimed, worker)])
        assert has_canceled != bool(claimed)
        assert status(task_id) == ("canceled" if has_canceled else "running")
        lifecycle.end([steps.ending(task, "failed") for task in claimed])
        canceled += has_canceled
    assert TaskEvent.objects.filter(status="canceled").count() == canceled
    assert TaskEvent.objects.filter(status="failed").count() == rounds - canceled
    assert steps.breaches() == []
