"""Adoption: what a dead worker owned goes to a living one, and the dead one writes nothing any more."""

import pytest

from common import sql
from tasks import leases, paid_calls, polls
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.due_calls import Reschedule
from tasks.leases import Orphan
from tasks.models import Call, Task, TaskEvent, Worker
from tests.tasks import steps

pytestmark = pytest.mark.usefixtures("long_leases")


def owner(task_id: str) -> str | None:
    return Task.objects.get(id=task_id).worker_id


def orphan_of(worker_id: str):
    (orphan,) = leases.adopt(worker_id)
    return orphan


@pytest.fixture
def task(key, image_model, worker):
    return steps.start(key, worker)


def test_a_worker_registers_as_alive(db):
    row = Worker.objects.get(id=leases.register(["tasks", "janitor"]))
    assert (row.lanes, row.stopped_at) == ("tasks,janitor", None)
    assert row.host
    assert row.pid > 0


def test_two_workers_of_a_process_are_two(worker, other_worker):
    assert worker != other_worker


def test_a_living_worker_keeps_its_tasks(task, worker, other_worker):
    steps.silence(worker, seconds=1_400)
    assert leases.adopt(other_worker) == []
    assert owner(task.id) == worker


def test_a_silent_workers_task_is_adopted(task, worker, other_worker):
    steps.silence(worker, seconds=1_801)
    orphan = orphan_of(other_worker)
    assert orphan == Orphan(task_id=task.id, attempt=2, open_routes_id=task.open_routes_id, intents=(), accepted=())
    assert owner(task.id) == other_worker


def test_the_lease_is_a_setting(task, worker, other_worker, settings):
    settings.WORKER_LEASE = 5
    steps.silence(worker, seconds=6)
    assert leases.dead_workers(other_worker) == [worker]


def test_a_heartbeat_renews_the_lease(task, worker, other_worker):
    steps.silence(worker)
    leases.heartbeat(worker)
    assert leases.adopt(other_worker) == []


def test_a_stopped_workers_task_is_adopted_at_once(task, worker, other_worker):
    leases.stop(worker)
    assert orphan_of(other_worker).task_id == task.id


def test_a_stopped_worker_has_no_heartbeat(worker):
    steps.silence(worker)
    leases.stop(worker)
    before = Worker.objects.get(id=worker).heartbeat_at
    leases.heartbeat(worker)
    assert Worker.objects.get(id=worker).heartbeat_at == before


def test_nobody_adopts_from_itself(task, worker):
    steps.silence(worker)
    assert leases.adopt(worker) == []


def test_an_adopted_task_is_adopted_once(task, worker, other_worker):
    steps.silence(worker)
    orphan_of(other_worker)
    assert leases.adopt(steps.worker()) == []


def test_the_adopter_itself_can_die(task, worker, other_worker):
    steps.silence(worker)
    orphan_of(other_worker)
    leases.stop(other_worker)
    assert orphan_of(steps.worker()).attempt == 3


def test_an_adoption_is_no_transition(task, worker, other_worker):
    steps.silence(worker)
    leases.adopt(other_worker)
    assert TaskEvent.objects.count() == 2
    assert Task.objects.get(id=task.id).status == "running"


def test_ended_and_queued_tasks_are_not_adopted(key, image_model, worker, other_worker):
    steps.submitted_many(key, 3)
    first, second, _ = steps.claimed(worker)
    steps.end(first)
    queue.requeue([Return(task_id=second.id, attempt=1, open_routes_id=second.open_routes_id)])
    steps.silence(worker)
    assert len(leases.adopt(other_worker)) == 1


def test_the_dead_and_the_idle_cost_one_statement(worker, other_worker):
    steps.silence(worker)
    with steps.captured() as statements:
        assert leases.adopt(other_worker) == []
    assert len(statements) == 1


def test_a_stale_worker_cannot_end_return_or_buy(task, worker, other_worker):
    steps.silence(worker)
    leases.adopt(other_worker)
    leases.heartbeat(worker)
    assert not steps.end(task)
    assert not queue.requeue([Return(task_id=task.id, attempt=1, open_routes_id=task.open_routes_id)])
    assert steps.intend(steps.intent(task, worker)) == ()
    assert Task.objects.get(id=task.id).status == "running"
    assert steps.breaches() == []


def test_the_new_attempt_is_no_help_to_the_old_worker(task, worker, other_worker):
    steps.silence(worker)
    leases.adopt(other_worker)
    assert steps.intend(steps.intent(task, worker, attempt=2)) == ()
    assert steps.intend(steps.intent(task, other_worker, attempt=2))


def test_a_stale_worker_cannot_report_progress(task, worker, other_worker):
    call_id = steps.accepted(task, worker)
    steps.silence(worker)
    leases.adopt(other_worker)
    plan = {"call_id": call_id, "task_id": task.id, "delay_seconds": 1.0}
    polls.reschedule([Reschedule(**plan, attempt=1, progress=90)])
    assert Task.objects.get(id=task.id).progress is None
    polls.reschedule([Reschedule(**plan, attempt=2, progress=40)])
    assert Task.objects.get(id=task.id).progress == 40


def test_accepted_calls_are_polled_by_the_adopter(task, worker, other_worker):
    call_id = steps.accepted(task, worker)
    steps.silence(worker)
    orphan = orphan_of(other_worker)
    assert (orphan.accepted, orphan.intents) == ((call_id,), ())
    (due,) = steps.due(other_worker)
    assert (due.id, due.attempt, due.is_late) == (call_id, 2, False)
    assert steps.due(worker) == []


def test_an_intent_is_reported_to_the_adopter(task, worker, other_worker):
    call_id = steps.intended(task, worker)
    steps.silence(worker)
    orphan = orphan_of(other_worker)
    assert (orphan.accepted, orphan.intents) == ((), (call_id,))


def test_ended_calls_of_earlier_attempts_are_nothing_to_adopt(task, worker, other_worker):
    paid_calls.close(steps.CallEnd(id=steps.intended(task, worker), state="refused"))
    steps.silence(worker)
    assert orphan_of(other_worker).intents == ()


def test_late_calls_of_a_dead_worker_are_followed_on(task, worker, other_worker):
    call_id = steps.accepted(task, worker)
    sql.run("UPDATE tasks_call SET state = 'late' WHERE id = %s", [call_id])
    steps.end(task, "timeout")
    steps.silence(worker)
    assert leases.adopt(other_worker) == []
    assert [call.id for call in steps.due(other_worker)] == [call_id]


def test_a_handle_that_comes_after_the_fence_moved_is_stored(task, worker, other_worker):
    call_id = steps.intended(task, worker)
    steps.silence(worker)
    leases.adopt(other_worker)
    end = steps.CallEnd(id=call_id, state="unknown", outcome={"kind": "crash"})
    assert steps.end(task, "failed", attempt=2, call=end)
    assert not paid_calls.accept(call_id, {"id": "job-9"}, poll_after=0.0)
    call = Call.objects.get()
    assert (call.state, call.handle, call.ended_at) == ("late", {"id": "job-9"}, None)


def test_the_handle_of_an_adopted_task_that_has_not_ended_is_polled_on(task, worker, other_worker):
    call_id = steps.intended(task, worker)
    steps.silence(worker)
    leases.adopt(other_worker)
    assert paid_calls.accept(call_id, {"id": "job-9"}, poll_after=0.0)
    leases.stop(other_worker)
    assert orphan_of(steps.worker()).accepted == (call_id,)


def test_several_dead_workers_are_adopted_in_one_go(key, image_model, worker, other_worker):
    for owner_id in (worker, other_worker):
        steps.submitted_many(key, 2)
        assert len(steps.claimed(owner_id)) == 2
        steps.silence(owner_id)
    heir = steps.worker()
    assert len(leases.adopt(heir)) == 4
    assert set(Task.objects.values_list("worker_id", "attempt")) == {(heir, 2)}
