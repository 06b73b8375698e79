"""The record of paid calls: intent before, handle after, and polls when they are due."""

import re
import time

import pytest
from django.db import IntegrityError, transaction

from adapters.base import Target
from common import sql
from tasks import leases, lifecycle, paid_calls, polls
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.due_calls import Reschedule
from tasks.models import Call, Task
from tasks.paid_calls import CALL_TRANSITIONS, CallEnd
from tests.tasks import steps
from tools.children import PATIENCE
from tools.stack import ROOT


@pytest.fixture
def task(key, image_model, worker):
    return steps.start(key, worker)


HANDLE, RESULT = {"id": "job-1"}, {"outputs": [], "duration": None}


def closing(state: str):
    return lambda call: paid_calls.close(CallEnd(id=call.pk, state=state))


MOVES = {  # every move that a call can make, and a step that makes it
    ("intent", "accepted"): lambda call: paid_calls.accept(call.pk, HANDLE, poll_after=0.0),
    ("intent", "done"): closing("done"),
    ("intent", "refused"): closing("refused"),
    ("intent", "unknown"): lambda call: paid_calls.give_up([call.pk]),
    ("intent", "late"): lambda call: paid_calls.leave([call.task_id]),
    ("accepted", "done"): closing("done"),
    ("accepted", "late"): lambda call: paid_calls.leave([call.task_id]),
    ("late", "done"): closing("done"),
    ("late", "refused"): closing("refused"),
    ("late", "unknown"): lambda call: paid_calls.give_up([call.pk]),
    ("late", "lost"): closing("lost"),
    ("unknown", "done"): lambda call: paid_calls.resolve(CallEnd(id=call.pk, state="done")),
    ("unknown", "refused"): closing("refused"),
    ("unknown", "late"): lambda call: paid_calls.keep(call.pk, RESULT),
    ("unknown", "lost"): lambda call: paid_calls.resolve(CallEnd(id=call.pk, state="lost")),
}
OTHERS = (
    *map(closing, ("unknown", "late")),
    lambda call: paid_calls.drop(CallEnd(id=call.pk, state="done"), call.task_id),
    lambda call: polls.adopt(call.worker_id, [call.worker_id]),
    lambda call: paid_calls.note(call.pk, {}),
    lambda call: reschedule(call.pk, call.task),
    lambda call: polls.hasten_overdue(),
    lambda call: paid_calls.finish([call.pk]),
)


def moved(call: Call, state: str, step) -> str:
    """The state in which this step leaves a call of that state; one that is followed has a handle."""
    Call.objects.filter(pk=call.pk).update(state=state, handle=HANDLE if state == "accepted" else None, result=None)
    step(call)
    return Call.objects.get(pk=call.pk).state


def test_the_moves_of_calls_are_these(task, worker):
    assert set(CALL_TRANSITIONS) == set(Call.State.values)
    assert {(old, new) for old, news in CALL_TRANSITIONS.items() for new in news} == set(MOVES)
    call = Call.objects.get(pk=steps.intended(task, worker))
    for (old, new), step in MOVES.items():
        assert moved(call, old, step) == new, (old, new)


def test_no_step_makes_another_move(task, worker):
    call = Call.objects.get(pk=steps.intended(task, worker))
    for state in Call.State.values:
        for step in (*MOVES.values(), *OTHERS):
            assert moved(call, state, step) in {state, *CALL_TRANSITIONS[state]}, state


def test_a_move_outside_the_table_cannot_be_written():
    with pytest.raises(ValueError, match="no transition"):
        paid_calls.moving("accepted", "intent", "done")
    with pytest.raises(ValueError, match="no transition"):
        paid_calls.resolve(CallEnd(id=1, state="accepted"))


WRITES = re.compile(
    r"(INSERT INTO|UPDATE|DELETE FROM) tasks_call\b|\bCall\.objects[^\n]*\.(\w*create|\w*update|delete)\("
)


def test_no_other_module_writes_calls():
    rooms = ("accounts", "billing", "callbacks", "catalog", "desk", "front", "tasks", "tasks_api", "worker")
    modules = (path for room in rooms for path in (ROOT / room).rglob("*.py") if "migrations" not in path.parts)
    assert sorted(path.name for path in modules if WRITES.search(path.read_text())) == ["paid_calls.py", "polls.py"]


def test_when_a_call_is_polled_is_no_move_of_it():
    assert not re.search(
        r"SET state|state=['\"]\w+['\"]\)?\.update|update\(state", (ROOT / "tasks" / "polls.py").read_text()
    )


def reschedule(call_id: int, task, **changes) -> None:
    fields = {"call_id": call_id, "task_id": task.id, "attempt": task.attempt, "delay_seconds": 3_600.0}
    polls.reschedule([Reschedule(**fields | changes)])


def due_ids(worker_id: str) -> list[int]:
    return [call.id for call in steps.due(worker_id)]


def test_an_intent_is_the_record_of_what_will_be_bought(task, worker, image_channel):
    target = Target(
        adapter="a", base_url="https://x/v1", upstream_model="m", capabilities={"max_n": 2}, options={"o": [1, None]}
    )
    (intended,) = steps.intend(
        steps.intent(task, worker, target=target, channel_id=image_channel.pk, request_digest="e" * 64)
    )
    call = Call.objects.get(id=intended.id)
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
    assert steps.intend(steps.intent(task, worker)) == ()
    assert not Call.objects.exists()


def test_nothing_is_bought_for_a_returned_task(task, worker):
    queue.requeue([Return(task_id=task.id, attempt=1, open_routes_id=task.open_routes_id)])
    assert steps.intend(steps.intent(task, worker)) == ()


@pytest.mark.parametrize("attempt", [0, 2])
def test_nothing_is_bought_with_another_attempt(task, worker, attempt):
    assert steps.intend(steps.intent(task, worker, attempt=attempt)) == ()


def test_nothing_is_bought_by_another_worker(task, other_worker):
    assert steps.intend(steps.intent(task, other_worker)) == ()


def test_intents_that_were_committed_unseen_are_found_until_another_has_the_task(task, worker, other_worker):
    intended = steps.intend(steps.intent(task, worker), 2)
    assert steps.committed(steps.intent(task, worker, count=2)) == intended
    leases.stop(worker)
    leases.adopt(other_worker)
    assert steps.committed(steps.intent(task, worker, count=2)) == ()


def test_an_accepted_call_has_a_handle_and_a_next_poll(task, worker):
    call_id = steps.intended(task, worker)
    assert paid_calls.accept(call_id, {"id": "job-1", "n": 2}, poll_after=30.0)
    call = Call.objects.get()
    assert (call.state, call.handle, call.ended_at) == ("accepted", {"id": "job-1", "n": 2}, None)
    assert (call.next_poll_at - call.answered_at).total_seconds() == pytest.approx(30, abs=0.01)


def test_a_call_that_has_ended_is_not_accepted_again(task, worker):
    call_id = steps.intended(task, worker)
    paid_calls.close(CallEnd(id=call_id, state="done"))
    assert not paid_calls.accept(call_id, {"id": "job-1"}, poll_after=0.0)
    assert (Call.objects.get().state, Call.objects.get().handle) == ("done", None)


def test_a_kept_result_is_due_at_once_and_leaves_the_handle(task, worker):
    call_id = steps.accepted(task, worker)
    answered_at = Call.objects.get().answered_at
    reschedule(call_id, task, faults=3)
    assert paid_calls.keep(call_id, RESULT)
    (call,) = steps.due(worker)
    assert (call.handle, call.result, call.faults) == ({"id": "job-1"}, RESULT, 0)
    assert Call.objects.get().answered_at == answered_at


@pytest.mark.parametrize("answer", ["handle", "result"])
def test_a_late_call_with_an_answer_is_not_given_up(task, worker, answer):
    call_id = steps.intended(task, worker)
    Call.objects.filter(pk=call_id).update(state="late", **{answer: RESULT})
    paid_calls.give_up([call_id])
    assert (leases.unanswered(worker), Call.objects.get().state) == ([], "late")


def test_an_answer_after_the_timeout_is_late_and_followed(task, worker):
    call_id = steps.intended(task, worker)
    steps.end(task, "timeout", call=CallEnd(id=call_id, state="late", outcome={"kind": "timeout"}))
    assert due_ids(worker) == []
    assert not paid_calls.accept(call_id, {"id": "job-1"}, poll_after=0.0)
    (call,) = steps.due(worker)
    assert (call.is_late, call.handle) == (True, {"id": "job-1"})


def test_a_closed_call_is_not_polled(task, worker):
    call_id = steps.accepted(task, worker)
    paid_calls.close(CallEnd(id=call_id, state="done", outcome={"kind": "x"}, cost_micros=9))
    call = Call.objects.get()
    assert (call.state, call.outcome, call.cost_micros, call.next_poll_at) == ("done", {"kind": "x"}, 9, None)
    assert call.ended_at is not None
    assert due_ids(worker) == []


def test_a_closed_call_stays_as_it_was_closed(task, worker):
    call_id = steps.intended(task, worker)
    paid_calls.close(CallEnd(id=call_id, state="done", outcome={"first": True}))
    paid_calls.close(CallEnd(id=call_id, state="lost"))
    assert (Call.objects.get().state, Call.objects.get().outcome) == ("done", {"first": True})


@pytest.mark.parametrize(("state", "handle"), [("accepted", HANDLE), ("late", HANDLE), ("unknown", None)])
def test_a_call_given_up_that_stays_as_it_is_shows_why(task, worker, state, handle):
    call_id = steps.intended(task, worker)
    Call.objects.filter(pk=call_id).update(state=state, handle=handle, outcome={"kind": "crash"})
    paid_calls.close(CallEnd(id=call_id, state="unknown", outcome={"kind": "broken"}))
    call = Call.objects.get()
    assert (call.state, call.outcome, call.ended_at is None) == (state, {"kind": "broken"}, state != "unknown")


def test_a_poll_is_due_when_its_time_has_come(task, worker):
    call_id = steps.accepted(task, worker, poll_after=3_600.0)
    assert due_ids(worker) == []
    sql.run(f"UPDATE tasks_call SET next_poll_at = {sql.now()}")
    assert due_ids(worker) == [call_id]


def test_a_due_call_carries_what_a_poll_needs(task, worker):
    call_id = steps.accepted(task, worker)
    sql.run(f"UPDATE tasks_call SET created_at = {sql.later('-1000')}")
    (call,) = steps.due(worker)
    assert (call.id, call.task_id, call.attempt, call.target) == (call_id, task.id, 1, steps.UPSTREAM)
    assert (call.handle, call.faults, call.copy_faults) == ({"id": "job-1"}, 0, 0)
    assert (call.is_late, call.is_overdue) == (False, False)
    assert 999 < call.age_seconds < 1_000 + PATIENCE


def test_a_due_call_tells_that_its_task_is_overdue(task, worker):
    steps.accepted(task, worker)
    steps.age(task.id, "deadline_at", -1)
    assert steps.due(worker)[0].is_overdue
    steps.end(task, "timeout")
    assert not steps.due(worker)[0].is_overdue


def test_a_poll_past_the_deadline_is_the_last_unless_the_provider_has_finished(task, worker):
    call_id = steps.accepted(task, worker)
    for finished, seconds, is_last in ((False, 1, True), (True, 1, False), (True, 901, True)):
        if finished:
            assert paid_calls.finish([call_id])
        steps.age(task.id, "deadline_at", -seconds)
        (call,) = steps.due(worker)
        assert (call.is_overdue, call.is_last, call.is_finished) == (True, is_last, finished), seconds
        assert (call.copy_until > time.monotonic()) is (seconds == 1)


def test_that_a_provider_has_finished_is_noted_once_and_only_while_its_task_waits(task, worker):
    call_id = steps.accepted(task, worker)
    assert paid_calls.finish([call_id])
    sql.run(f"UPDATE tasks_call SET finished_at = {sql.later('-100')}")
    noted = Call.objects.get().finished_at
    assert paid_calls.finish([call_id])
    paid_calls.keep(call_id, RESULT)
    assert Call.objects.get().finished_at == noted
    steps.end(task, "failed")
    assert not paid_calls.finish([call_id])


def test_the_most_overdue_polls_come_first(key, image_model, worker):
    steps.submitted_many(key, 4)
    made = [steps.accepted(task, worker) for task in steps.claimed(worker)]
    for number, call_id in enumerate(made):
        sql.run(f"UPDATE tasks_call SET next_poll_at = {sql.later('%s')} WHERE id = %s", [-10 * number - 1, call_id])
    assert [call.id for call in steps.due(worker)] == made[::-1]


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
    paid_calls.close(CallEnd(id=call_id, state="done"))
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
        polls.reschedule(plans)
        polls.reschedule([])
    assert len(statements) == 2
    assert sorted(Task.objects.values_list("progress", flat=True)) == list(range(10))


def test_a_success_ends_its_call_in_the_same_transaction(task, worker):
    call_id = steps.accepted(task, worker)
    ending = steps.ending(task, "succeeded", call=CallEnd(id=call_id, state="done", cost_micros=5))
    assert lifecycle.end([ending]) == {task.id}
    assert (Call.objects.get().state, Call.objects.get().cost_micros) == ("done", 5)
    assert due_ids(worker) == []
