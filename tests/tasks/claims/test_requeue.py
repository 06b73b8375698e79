"""Returns to the queue: the task is as it was, waits its delay, and keeps its deadline."""

from datetime import timedelta

import pytest

from catalog.models import Route
from tasks import route_sets
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.claims.starting import Claimed
from tasks.models import Task, TaskEvent
from tests.rows import make_channel, make_route
from tests.tasks import steps

ROUNDED = 0.01
"""Seconds: SQLite keeps moments to the millisecond, and counts their distances in days."""


def back(task: Claimed, **changes) -> Return:
    fields = {"task_id": task.id, "attempt": task.attempt, "open_routes_id": task.open_routes_id}
    return Return(**fields | changes)


def give_back(task: Claimed, **changes) -> bool:
    return bool(queue.requeue([back(task, **changes)]))


def in_the_queue(task_id: str) -> Task:
    return Task.objects.get(id=task_id, status="queued")


def test_a_return_puts_the_task_back_as_it_was(key, image_model, worker):
    task = steps.start(key, worker)
    assert give_back(task)
    row = in_the_queue(task.id)
    assert (row.worker_id, row.channel_id, row.route_id, row.progress) == (None, None, None, None)
    assert (row.attempt, row.requeues, row.actual_micros) == (1, 1, None)
    assert steps.breaches() == []


def test_the_queue_deadline_counts_from_the_submission_again(key, image_model, worker):
    task = steps.start(key, worker)
    steps.age(task.id, "created_at", -600)
    give_back(task)
    row = in_the_queue(task.id)
    assert (row.deadline_at - row.created_at).total_seconds() == pytest.approx(86_400, abs=0.01)


def test_a_return_is_an_event_and_the_next_start_another_attempt(key, image_model, worker):
    task = steps.start(key, worker)
    give_back(task)
    (again,) = steps.claimed(worker)
    assert (again.id, again.attempt, again.requeues) == (task.id, 2, 1)
    events = TaskEvent.objects.order_by("id").values_list("status", "attempt")
    assert list(events) == [("queued", 0), ("running", 1), ("queued", 1), ("running", 2)]


def test_started_at_stays_the_first_start(key, image_model, worker):
    task = steps.start(key, worker)
    steps.age(task.id, "started_at", -60)
    before = Task.objects.get(id=task.id).started_at
    give_back(task)
    steps.claimed(worker)
    assert Task.objects.get(id=task.id).started_at == before


def test_a_returned_task_waits_its_delay(key, image_model, worker):
    task = steps.start(key, worker)
    give_back(task, delay_seconds=3_600)
    assert queue.seconds_to_next() != 0
    assert steps.claimed(worker) == ()
    steps.age(task.id, "not_before", -0.1)
    assert queue.seconds_to_next() == 0
    assert [again.id for again in steps.claimed(worker)] == [task.id]


def test_a_waiting_task_does_not_hold_up_younger_ones(key, image_model, worker):
    task = steps.start(key, worker)
    give_back(task, delay_seconds=3_600)
    young = steps.submitted(key)
    assert [started.id for started in steps.claimed(worker)] == [young]


def test_a_return_that_is_no_failure_is_not_counted(key, image_model, worker):
    task = steps.start(key, worker)
    give_back(task, is_failure=False)
    assert in_the_queue(task.id).requeues == 0


def test_a_return_takes_the_routes_that_are_left(plan, key, image_model, worker):
    spare = make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2", priority=20)
    task = steps.start(key, worker)
    rest = route_sets.identify(frozenset([Route.objects.get(channel=spare).pk]))
    give_back(task, open_routes_id=rest)
    (again,) = steps.claimed(worker)
    assert (again.route_id, again.open_routes_id) == (Route.objects.get(channel=spare).pk, rest)
    assert Task.objects.get(id=task.id).route_set_id == task.open_routes_id


def test_a_stale_worker_cannot_return_a_task(key, image_model, worker):
    task = steps.start(key, worker)
    assert not give_back(task, attempt=0)
    assert not give_back(task, attempt=2)
    assert Task.objects.get(id=task.id).status == "running"
    assert TaskEvent.objects.count() == 2


def test_an_ended_task_cannot_be_returned(key, image_model, worker):
    task = steps.start(key, worker)
    steps.end(task, "failed")
    assert not give_back(task)
    assert Task.objects.get(id=task.id).status == "failed"


def test_a_list_of_returns_costs_as_many_statements_as_one(key, image_model, worker):
    steps.submitted_many(key, 11)
    one, *many = steps.claimed(worker)
    with steps.captured() as of_one:
        queue.requeue([back(one)])
    with steps.captured() as of_many:
        assert len(queue.requeue([back(task) for task in many])) == 10
    assert len(of_one) == len(of_many) <= 3


def test_all_attempts_share_one_execution_deadline(key, image_model, worker):
    task = steps.start(key, worker)
    before = steps.clock()
    steps.age(task.id, "deadline_at", 700)
    give_back(task)
    spent = (steps.clock() - before).total_seconds()
    steps.age(task.id, "created_at", -3_600)  # the time in the queue is not counted
    returned = steps.clock()
    (again,) = steps.claimed(worker)
    assert 700 - spent <= again.deadline_seconds + ROUNDED
    assert again.deadline_seconds <= 700 + ROUNDED
    started = Task.objects.get(id=task.id).deadline_at - timedelta(seconds=again.deadline_seconds)
    rounded = timedelta(seconds=ROUNDED)
    assert returned - rounded <= started <= steps.clock() + rounded


def test_a_task_without_time_left_gets_to_its_timeout(key, image_model, worker):
    task = steps.start(key, worker)
    steps.age(task.id, "deadline_at", -30)
    give_back(task)
    (again,) = steps.claimed(worker)
    assert again.deadline_seconds == queue.LEAST_SECONDS_LEFT
