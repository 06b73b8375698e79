"""SIGTERM: what is in hand is finished or handed on, in time."""

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


def stopped(worker):
    """The exit code after SIGTERM, and the seconds that took."""
    started = time.monotonic()
    worker.terminate()
    return worker.wait(30), time.monotonic() - started


@pytest.fixture
def roomy(key):
    """The key may run and queue more than usual."""
    type(key.account).objects.update(max_running=500, max_queued=500)
    type(key.record).objects.update(max_running=500, max_queued=500)
    return key


def test_open_films_and_a_copy_do_not_hold_up_the_exit_and_are_adopted_at_once(start_worker, roomy, sandbox):
    first = start_worker(WORKER_LEASE="600")
    copying = film(roomy, "being copied [download:slow=20]")
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the copy")
    films = [film(roomy, f"film {number} [slow=4]", duration=1) for number in range(50)]
    wait_until(lambda: sandbox.audit()["by_kind"]["video"] == 51, what="the paid calls")
    second = start_worker(WORKER_LEASE="600")
    code, seconds = stopped(first)
    assert code == 0
    assert seconds < EXIT_SECONDS
    wait_until(lambda: not Task.objects.filter(status="running", attempt=1).exists(), what="the adoption")
    assert set(ended(*films)) == {"succeeded"}
    assert task(copying).status == "running"
    assert second.is_running


def test_a_paid_call_is_waited_for(start_worker, key, sandbox):
    worker = start_worker()
    task_id = picture(key, "a fox [slow=6]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    waiting = [picture(key, f"waiting {number}") for number in range(3)]
    ended(*waiting)
    code, seconds = stopped(worker)
    assert code == 0
    assert seconds > 1
    assert task(task_id).status == "succeeded"


def test_what_was_not_begun_stays_in_the_queue(start_worker, key, sandbox):
    worker = start_worker("--concurrency", "1")
    paid = picture(key, "a fox [slow=4]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    waiting = [picture(key, f"waiting {number}") for number in range(3)]
    assert stopped(worker)[0] == 0
    assert task(paid).status == "succeeded"
    assert [(row.status, row.attempt) for row in map(task, waiting)] == [("queued", 0)] * 3


@pytest.mark.slow
def test_a_paid_call_beyond_the_grace_is_left_to_the_lease(start_worker, key, sandbox):
    worker = start_worker(WORKER_GRACE="1")
    task_id = picture(key, "a fox [hang]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    code, seconds = stopped(worker)
    assert code == 0
    assert seconds < EXIT_SECONDS
    start_worker(WORKER_LEASE="600")
    assert ended(task_id) == ["TASK_OUTCOME_UNKNOWN"]


def test_a_second_sigterm_exits_at_once(start_worker, key, sandbox):
    worker = start_worker()
    picture(key, "a fox [hang]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    worker.terminate()
    with pytest.raises(TimeoutError):
        wait_until(lambda: not worker.is_running, timeout=1)
    code, seconds = stopped(worker)
    assert code == 128 + signal.SIGTERM
    assert seconds < EXIT_SECONDS


def test_an_idle_worker_ends_at_once_on_either_signal(start_worker):
    for number in (signal.SIGTERM, signal.SIGINT):
        worker = start_worker()
        started = time.monotonic()
        worker.send(number)
        assert worker.wait() == 0
        assert time.monotonic() - started < EXIT_SECONDS


def test_a_drained_worker_exits_with_zero(crew, image_model, video_model, key):
    tasks = [picture(key, "a fox"), film(key, "a fox runs"), picture(key, "a hen [moderated]")]
    worker = crew.start_worker("--drain")
    assert worker.wait(30) == 0
    assert [task(task_id).status for task_id in tasks] == ["succeeded", "succeeded", "failed"]
    assert steps.breaches() == []


def test_bad_arguments_end_with_one_line(crew):
    answer = crew.manage("run_worker", "--lanes", "tasks,sweeper", check=False)
    assert answer.returncode == 1
    assert answer.stderr.splitlines() == [
        "CommandError: --lanes: unknown lane 'sweeper'; known are tasks, callbacks, janitor"
    ]
