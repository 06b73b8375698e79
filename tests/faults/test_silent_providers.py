"""Providers that fall silent, in every protocol and at every stage at once: a worker that nobody holds up.

The deadlines are long, and the test lets them pass once the worker is where it shall be.
"""

import pytest

from accounts.models import Account, ApiKey
from billing import ledger
from common import sql
from tasks.models import Call
from tests.faults.scenes import ended
from tests.tasks import steps
from tests.worker.driving import hurry, task
from tests.worker.protocols import LANES
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
JOBS, LINKS = [lane for lane in LANES if lane.is_job], [lane for lane in LANES if lane.has_links]
CANCELED = {"replicate-image", "replicate-video", "runway", "runway-router"}


@pytest.fixture
def submit(key, plan, sandbox):
    """Submits a task with this word to each of the lanes; returns their ids by lane."""
    for limited in (ApiKey, Account):
        limited.objects.update(max_running=500, max_queued=500)
    ledger.credit(key.account.pk, 10**8, reference="much", reason="test")
    for lane in LANES:
        lane.install(plan, sandbox)
    return lambda word, lanes: {lane.name: steps.submitted(key, lane.body(f"{lane.name} {word}")) for lane in lanes}


def let_deadlines_pass(seconds):
    sql.run(f"UPDATE tasks_task SET deadline_at = {sql.later('%s')} WHERE status = 'running'", [-seconds])


def bought_once(sandbox, tasks):
    """Every task, and none was charged."""
    assert set(sandbox.audit()["by_prompt"].values()) == {1}
    assert sandbox.audit()["jobs"] == len(tasks)
    assert all(task(task_id).actual_micros == 0 for task_id in tasks)


def test_the_deadline_ends_what_hangs_and_nothing_is_bought_again(start_worker, submit, sandbox):
    start_worker("--concurrency", "200")
    copied = submit("[download:hang]", LINKS)
    wait_until(lambda: sandbox.audit()["calls"].get("download") == len(LINKS), what="the downloads that hang")
    before = sandbox.audit()["calls"]["poll"]
    polled = submit("[poll:hang]", JOBS)
    wait_until(lambda: sandbox.audit()["calls"]["poll"] >= before + len(JOBS), what="the polls that hang")
    tasks = [*copied.values(), *polled.values(), *submit("[hang]", LANES).values()]
    wait_until(lambda: sandbox.audit()["jobs"] == len(tasks), what="the paid calls that hang")
    let_deadlines_pass(3600)
    assert set(ended(*copied.values())) == {"TASK_STORAGE_UNAVAILABLE"}
    assert set(ended(*tasks[len(copied) :])) == {"TASK_TIMEOUT"}
    bought_once(sandbox, tasks)


def test_what_comes_after_the_deadline_is_our_loss(start_worker, submit, sandbox):
    start_worker("--concurrency", "200")
    tasks = submit("[held]", LANES)
    wait_until(lambda: Call.objects.filter(state="accepted").count() == len(JOBS), what="the jobs")
    wait_until(lambda: sandbox.audit()["jobs"] == len(LANES), what="the paid calls")
    let_deadlines_pass(1)
    assert set(ended(*tasks.values())) == {"TASK_TIMEOUT"}
    sandbox.release()
    late = Call.objects.filter(state="late")
    wait_until(lambda: hurry() or not late.exists(), what="the late results")
    states = {lane: Call.objects.get(task=task_id).state for lane, task_id in tasks.items()}
    assert states == {lane.name: "done" if lane.name in CANCELED else "lost" for lane in LANES}
    bought_once(sandbox, list(tasks.values()))
