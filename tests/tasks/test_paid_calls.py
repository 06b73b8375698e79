"""The record of paid calls: intent before, handle after, and polls when they are due."""

import pytest
from django.db import IntegrityError, transaction

from adapters.base import Target
from common import sql
from tasks import lifecycle, paid_calls, queue
from tasks.models import Call, Task
from tasks.paid_calls import Reschedule
from tasks.queue import Return
from tests.tasks import steps
from tools.children import PATIENCE


@pytest.fixture
def task(key, image_model, worker):
    return steps.start(key, worker)


def reschedule(call_id: int, task, **changes) -> None:
    fields = {"call_id": call_id, "task_id": task.id, "attempt": task.attempt, "delay_seconds": 3_600.0}
    paid_calls.reschedule([Reschedule(**fields | changes)])


def due_ids(worker_id: str) -> list[int]:
    return [call.id for call in paid_calls.due(worker_id, limit=10)]


def test_an_intent_is_the_record_of_what_will_be_bought(task, worker, image_channel):
    target = Target(
        adapter="a", base_url="https://x/v1", upstream_model="m", capabilities={"max_n": 2}, options={"o": [1, None]}
    )
    (call_id,) = paid_calls.intend(
        steps.intent(task, worker, target=target, channel_id=image_channel.pk, request_digest="e" * 64)
    )
    call = Call.objects.get(id=call_id)
    assert (call.task_id, call.attempt, call.position, call.worker_id) == (task.id, 1, 0, worker)
    assert (call.state, call.handle, call.next_poll_at, call.request_digest) == ("intent", None, None, "e" * 64)
    assert (call.route_id, call.channel_id, call.credential_id) == (task.route_id, image_channel.pk, None)
    assert Target(**call.target) == target


def test_no_two_calls_have_a_reference_in_common(task):
    places = [
        (task_id, attempt, position) for task_id in (task.id, "task_2") for attempt in (1, 2) for position in (0, 1)
    ]
    assert len({paid_calls.reference(*place) for place in places}) == len(places)


def test_an_attempt_buys_once(task, worker):
    steps.intended(task, worker)
    with pytest.raises(IntegrityError), transaction.atomic():
        steps.intended(task, worker)


def test_nothing_is_bought_for_an_ended_task(task, worker):
    steps.end(task, "failed")
    assert paid_calls.intend(steps.intent(task, worker)) == ()
    assert not Call.objects.exists()


def test_nothing_is_bought_for_a_returned_task(task, worker):
    queue.requeue([Return(task_id=task.id, attempt=1, open_routes_id=task.open_routes_id)])
    assert paid_calls.intend(steps.intent(task, worker)) == ()


@pytest.mark.parametrize("attempt", [0, 2])
def test_nothing_is_bought_with_another_attempt(task, worker, attempt):
    assert paid_calls.intend(steps.intent(task, worker, attempt=attempt)) == ()


def test_nothing_is_bought_by_another_worker(task, other_worker):
    assert paid_calls.intend(steps.intent(task, other_worker)) == ()


def test_an_accepted_call_has_a_handle_and_a_next_poll(task, worker):
    call_id = steps.intended(task, worker)
    assert paid_calls.accept(call_id, {"id": "job-1", "n": 2}, poll_after=30.0)
    call = Call.objects.get()
    assert (call.state, call.handle, call.ended_at) == ("accepted", {"id": "job-1", "n": 2}, None)
    assert (call.next_poll_at - call.answered_at).total_seconds() == pytest.approx(30, abs=0.01)


def test_accepting_twice_keeps_the_call(task, worker):
    call_id = steps.accepted(task, worker)
    paid_calls.accept(call_id, {"id": "job-1"}, poll_after=0.0)
    assert Call.objects.get().state == "accepted"


@pytest.mark.parametrize("state", ["done", "lost"])
def test_a_call_that_has_ended_is_not_accepted_again(task, worker, state):
    call_id = steps.intended(task, worker)
    paid_calls.close(call_id, state=state, outcome={})
    assert not paid_calls.accept(call_id, {"id": "job-1"}, poll_after=0.0)
    assert (Call.objects.get().state, Call.objects.get().handle) == (state, None)


def test_an_answer_after_the_timeout_is_late_and_followed(task, worker):
    call_id = steps.intended(task, worker)
    steps.end(task, "timeout", call=steps.CallEnd(id=call_id, state="late", outcome={"kind": "timeout"}))
    assert due_ids(worker) == []
    assert not paid_calls.accept(call_id, {"id": "job-1"}, poll_after=0.0)
    (call,) = paid_calls.due(worker, limit=10)
    assert (call.is_late, call.handle) == (True, {"id": "job-1"})


@pytest.mark.parametrize("state", ["unknown", "done"])
def test_a_closed_call_is_not_polled(task, worker, state):
    call_id = steps.accepted(task, worker)
    paid_calls.close(call_id, state=state, outcome={"kind": "x"}, cost_micros=9)
    call = Call.objects.get()
    assert (call.state, call.outcome, call.cost_micros, call.next_poll_at) == (state, {"kind": "x"}, 9, None)
    assert call.ended_at is not None
    assert due_ids(worker) == []


def test_a_closed_call_stays_as_it_was_closed(task, worker):
    call_id = steps.intended(task, worker)
    paid_calls.close(call_id, state="done", outcome={"first": True})
    paid_calls.close(call_id, state="lost", outcome={})
    assert (Call.objects.get().state, Call.objects.get().outcome) == ("done", {"first": True})


def test_a_poll_is_due_when_its_time_has_come(task, worker):
    call_id = steps.accepted(task, worker, poll_after=3_600.0)
    assert due_ids(worker) == []
    sql.run(f"UPDATE tasks_call SET next_poll_at = {sql.now()}")
    assert due_ids(worker) == [call_id]


def test_a_due_call_carries_what_a_poll_needs(task, worker):
    call_id = steps.accepted(task, worker)
    sql.run(f"UPDATE tasks_call SET created_at = {sql.later('-1000')}")
    (call,) = paid_calls.due(worker, limit=10)
    assert (call.id, call.task_id, call.attempt, call.target) == (call_id, task.id, 1, steps.UPSTREAM)
    assert (call.handle, call.faults, call.copy_faults) == ({"id": "job-1"}, 0, 0)
    assert (call.is_late, call.is_overdue) == (False, False)
    assert 999 < call.age_seconds < 1_000 + PATIENCE


def test_a_due_call_tells_that_its_task_is_overdue(task, worker):
    steps.accepted(task, worker)
    steps.age(task.id, "deadline_at", -1)
    assert paid_calls.due(worker, limit=1)[0].is_overdue
    steps.end(task, "timeout")
    assert not paid_calls.due(worker, limit=1)[0].is_overdue


def test_the_most_overdue_polls_come_first_and_as_many_as_asked(key, image_model, worker):
    steps.submitted_many(key, 4)
    made = [steps.accepted(task, worker) for task in steps.claimed(worker)]
    for number, call_id in enumerate(made):
        sql.run(f"UPDATE tasks_call SET next_poll_at = {sql.later('%s')} WHERE id = %s", [-10 * number - 1, call_id])
    assert [call.id for call in paid_calls.due(worker, limit=3)] == made[::-1][:3]


def test_another_workers_calls_are_not_due_here(task, worker, other_worker):
    steps.accepted(task, worker)
    assert due_ids(other_worker) == []


def test_a_reschedule_moves_the_poll_and_counts_faults(task, worker):
    call_id = steps.accepted(task, worker)
    reschedule(call_id, task, faults=3, copy_faults=2)
    call = Call.objects.get()
    assert (call.faults, call.copy_faults) == (3, 2)
    assert due_ids(worker) == []


def test_a_reschedule_shows_progress(task, worker):
    call_id = steps.accepted(task, worker)
    reschedule(call_id, task, progress=40)
    assert Task.objects.get(id=task.id).progress == 40
    reschedule(call_id, task)
    assert Task.objects.get(id=task.id).progress == 40


def test_progress_of_an_ended_task_stays(task, worker):
    call_id = steps.accepted(task, worker)
    steps.end(task)
    reschedule(call_id, task, progress=40)
    assert Task.objects.get(id=task.id).progress == 100


def test_a_closed_call_is_not_rescheduled(task, worker):
    call_id = steps.accepted(task, worker)
    paid_calls.close(call_id, state="done", outcome={})
    reschedule(call_id, task)
    assert Call.objects.get().next_poll_at is None


def test_reschedules_cost_two_statements_however_many(key, image_model, worker):
    steps.submitted_many(key, 10)
    tasks = steps.claimed(worker)
    plans = [
        Reschedule(call_id=steps.accepted(task, worker), task_id=task.id, attempt=1, delay_seconds=5.0, progress=number)
        for number, task in enumerate(tasks)
    ]
    with steps.captured() as statements:
        paid_calls.reschedule(plans)
        paid_calls.reschedule([])
    assert len(statements) == 2
    assert sorted(Task.objects.values_list("progress", flat=True)) == list(range(10))


def test_a_success_ends_its_call_in_the_same_transaction(task, worker):
    call_id = steps.accepted(task, worker)
    ending = steps.ending(task, "succeeded", call=steps.CallEnd(id=call_id, state="done", cost_micros=5))
    assert lifecycle.end([ending]) == {task.id}
    assert (Call.objects.get().state, Call.objects.get().cost_micros) == ("done", 5)
    assert due_ids(worker) == []
