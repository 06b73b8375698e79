"""SIGTERM: what is in hand is finished or handed on. Grace, lease and what hangs all outlast the tests' patience."""

import signal
import time

import pytest

from tasks.models import Task
from tests.faults.scenes import ended
from tests.tasks import steps
from tests.worker.driving import film, picture, task
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

EXIT_SECONDS = 5
FILMS = 20


def told_to_stop(worker):
    """Has taken SIGTERM, and waits for what it has in hand."""
    worker.terminate()
    worker.wait_for_line("finishes what it has in hand")


@pytest.fixture
def busy(start_worker, key, sandbox):
    """A worker with open films and the copy of another, none of which come to an end; and the ids of them all."""
    worker = start_worker()
    tasks = [film(key, "being copied [download:held]")]
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the copy")
    tasks += [film(key, f"film {number} [held]", duration=1) for number in range(FILMS - 1)]
    wait_until(lambda: sandbox.audit()["by_kind"]["video"] == FILMS, what="the paid calls")
    return worker, tasks


def test_open_films_and_a_copy_do_not_hold_up_the_exit_and_are_adopted_at_once(busy, start_worker, sandbox):
    worker, tasks = busy
    start_worker()
    worker.terminate()
    assert worker.wait() == 0
    wait_until(lambda: not Task.objects.filter(status="running", attempt=1).exists(), what="the adoption")
    assert set(Task.objects.values_list("status", "attempt")) == {("running", 2)}
    sandbox.release()
    assert set(ended(*tasks)) == {"succeeded"}


@pytest.mark.soak
def test_a_worker_without_a_paid_call_in_flight_exits_within_five_seconds(busy, start_worker):
    wait_until(lambda: not Task.objects.exclude(calls__state="accepted").exists(), what="every answer")
    for worker in (busy[0], start_worker()):
        started = time.monotonic()
        worker.terminate()
        assert worker.wait() == 0
        assert time.monotonic() - started < EXIT_SECONDS


def test_a_paid_call_is_waited_for(start_worker, key, sandbox):
    worker = start_worker()
    task_id = picture(key, "a fox [held]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    ended(*[picture(key, f"meanwhile {number}") for number in range(3)])
    told_to_stop(worker)
    sandbox.release()
    assert worker.wait() == 0
    assert task(task_id).status == "succeeded"


def test_what_was_not_begun_stays_in_the_queue(start_worker, key, sandbox):
    worker = start_worker("--concurrency", "1")
    paid = picture(key, "a fox [held]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    waiting = [picture(key, f"waiting {number}") for number in range(3)]
    told_to_stop(worker)
    sandbox.release()
    assert worker.wait() == 0
    assert task(paid).status == "succeeded"
    assert [(row.status, row.requeues) for row in map(task, waiting)] == [("queued", 0)] * 3
    assert sandbox.audit()["jobs"] == 1


def test_a_paid_call_beyond_the_grace_is_left_to_others(start_worker, key, sandbox):
    worker = start_worker(WORKER_GRACE="0")
    task_id = picture(key, "a fox [hang]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    worker.terminate()
    assert worker.wait() == 0
    start_worker()
    assert ended(task_id) == ["TASK_OUTCOME_UNKNOWN"]


def test_a_second_sigterm_exits_at_once(start_worker, key, sandbox):
    worker = start_worker()
    picture(key, "a fox [hang]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    told_to_stop(worker)
    worker.terminate()
    assert worker.wait() == 128 + signal.SIGTERM


def test_an_idle_worker_ends_on_either_signal(start_worker):
    for number in (signal.SIGTERM, signal.SIGINT):
        worker = start_worker()
        worker.send(number)
        assert worker.wait() == 0


def test_a_drained_worker_exits_with_zero(crew, image_model, video_model, key):
    tasks = [picture(key, "a fox"), film(key, "a fox runs"), picture(key, "a hen [moderated]")]
    worker = crew.start_worker("--drain")
    assert worker.wait() == 0
    assert [task(task_id).status for task_id in tasks] == ["succeeded", "succeeded", "failed"]
    assert steps.breaches() == []
