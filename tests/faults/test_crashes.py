"""SIGKILL at every step of a task: nothing is paid twice, nothing is lost, and money is where it belongs.

A step is found by what the provider does then; where it cannot help, by a lock that the worker waits for.
"""

import sys
from ipaddress import ip_network

import pytest

from tasks import url_policy
from tasks.models import Asset, Task
from tests.adapters.raw_server import raw_server
from tests.faults.conftest import LEASE
from tests.faults.scenes import ended, held, kill, talks_to, waits_for
from tests.worker.driving import call, film, picture, task
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

RECOVERY = LEASE + 20  # seconds, with the start of the second worker
CLAIM_AND_HANG = """
import time, django
django.setup()
from tasks import leases, queue
(claimed,) = queue.claim(leases.register(["tasks"]), seats=1).tasks
print("claimed", flush=True)
time.sleep(60)
"""


@pytest.fixture
def hanging_host(settings):
    """A host of reference images that takes connections and never answers."""
    settings.OUTBOUND_ALLOW_NETWORKS = (ip_network("127.0.0.0/8"),)
    url_policy.current.cache_clear()
    with raw_server(lambda connection, _: connection.recv(1)) as server:
        yield server
    url_policy.current.cache_clear()


def test_killed_before_the_intent_the_task_is_run_by_another(crew, start_worker, key, sandbox):
    task_id = picture(key, "a fox")
    worker = crew.start(
        "claimer", sys.executable, "-c", CLAIM_AND_HANG, DJANGO_SETTINGS_MODULE="config.settings", PYTHONPATH="."
    )
    worker.wait_for_line("claimed")
    worker.kill()
    start_worker()
    assert ended(task_id, timeout=RECOVERY) == ["succeeded"]
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_killed_at_five_steps_at_once(start_worker, key, sandbox, hanging_host):
    worker = start_worker()
    copying = film(key, "being copied [download:hang=1]")
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the download that hangs")
    between = picture(key, "between intent and call", images=[{"image_url": f"{hanging_host.url}/dot.png"}])
    paying = picture(key, "in the paid image call [hang]")
    submitting = film(key, "in the paid video call [hang]")
    polling = film(key, "being polled [poll:hang=1]")
    wait_until(lambda: hanging_host.requests and sandbox.audit()["jobs"] == 4, what="the paid calls")
    wait_until(lambda: talks_to(worker, sandbox) == 4, what="the poll that hangs")
    worker.kill()
    start_worker()
    assert ended(between, paying, submitting, timeout=RECOVERY) == ["TASK_OUTCOME_UNKNOWN"] * 3
    assert ended(polling, copying, timeout=RECOVERY) == ["succeeded"] * 2
    assert sandbox.audit()["jobs"] == 4
    assert {task(i).actual_micros for i in (between, paying, submitting)} == {0}
    assert Asset.objects.count() == 2


def test_killed_after_the_answer_before_its_handle_is_stored(start_worker, key, sandbox):
    worker = start_worker()
    task_id = picture(key, "a fox [slow=3][url]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    with held("tasks_call"):
        wait_until(lambda: not talks_to(worker, sandbox) and waits_for("tasks_call"), what="the answer")
        kill(worker)
    start_worker()
    assert ended(task_id, timeout=RECOVERY) == ["TASK_OUTCOME_UNKNOWN"]
    assert call(task_id).state == "unknown"
    assert sandbox.audit()["jobs"] == 1


def test_killed_in_the_end_transaction_the_film_is_settled_once(start_worker, key, sandbox):
    worker = start_worker()
    task_id = film(key, "a fox runs [download:slow=3]")
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the download")
    with held("accounts_account"):
        wait_until(lambda: not talks_to(worker, sandbox) and waits_for("accounts_account"), what="the end's last step")
        kill(worker)
    start_worker()
    assert ended(task_id, timeout=RECOVERY) == ["succeeded"]
    assert Asset.objects.count() == 1
    assert sandbox.audit()["jobs"] == 1


@pytest.mark.slow
def test_killed_with_bytes_in_hand_the_picture_is_unknown_and_not_bought_again(start_worker, key, sandbox):
    worker = start_worker()
    task_id = picture(key, "a fox [slow=3]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    with held("accounts_account"):
        wait_until(lambda: not talks_to(worker, sandbox) and waits_for("accounts_account"), what="the end's last step")
        kill(worker)
    start_worker()
    assert ended(task_id, timeout=RECOVERY) == ["TASK_OUTCOME_UNKNOWN"]
    assert sandbox.audit()["jobs"] == 1


@pytest.mark.slow
def test_killed_again_and_again_nothing_is_lost(start_worker, key, sandbox):
    tasks = [picture(key, f"fox {n} [slow=0.3]") for n in range(30)] + [film(key, f"hen {n}") for n in range(30)]
    for _ in range(6):
        worker = start_worker()
        before = Task.objects.filter(finished_at=None).count()
        wait_until(
            lambda: Task.objects.filter(finished_at=None).count() < max(before - 3, 1),  # noqa: B023
            timeout=30,
            what="progress",
        )
        kill(worker)
    start_worker()
    assert set(ended(*tasks, timeout=60)) <= {"succeeded", "TASK_OUTCOME_UNKNOWN"}
    assert sandbox.audit()["jobs"] <= 60
