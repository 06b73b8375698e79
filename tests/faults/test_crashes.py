"""SIGKILL at every step of a task: nothing is paid twice, nothing is lost, and money is where it belongs.

A step is found by what the provider does then; where it cannot help, by a lock that the worker waits for.
"""

import sys
from contextlib import ExitStack
from ipaddress import ip_network

import pytest
from django.db import connection

from common import sql
from tasks.models import Asset, Call, Task
from tasks.request import url_policy
from tests.account_lines import held_account
from tests.adapters.raw_server import raw_server
from tests.faults.scenes import ended, held, kill, let_lease_pass, waiting_for_account, waits_for
from tests.tasks import steps
from tests.worker.driving import call, film, picture, task
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="needs locks of tables and rows")

CLAIM_AND_HANG = """
import time, django
django.setup()
from tasks import leases
from tasks.claims import queue
worker = leases.register(["tasks"])
(claimed,) = queue.claim(worker, seats=1).tasks
print(f"worker {worker} starts", flush=True)
time.sleep(3600)
"""


@pytest.fixture
def hanging_host(settings):
    """A host of reference images that takes connections and never answers."""
    settings.OUTBOUND_ALLOW_NETWORKS = (ip_network("127.0.0.0/8"),)
    url_policy.current.cache_clear()
    with raw_server(lambda connection, _: connection.recv(1)) as server:
        yield server
    url_policy.current.cache_clear()


def kill_in_the_write(worker, sandbox, table):
    """Let the provider answer, and kill the worker while it waits to write to this table what it was told."""
    with held(table):
        sandbox.release()
        wait_until(lambda: not sandbox.busy and waits_for(table), what="the write")
        kill(worker)
    let_lease_pass(worker)


def test_killed_before_the_intent_the_task_is_run_by_another(crew, start_worker, key, sandbox):
    task_id = picture(key, "a fox")
    worker = crew.start(
        "claimer", sys.executable, "-c", CLAIM_AND_HANG, DJANGO_SETTINGS_MODULE="config.settings", PYTHONPATH="."
    )
    worker.wait_for_line("starts")
    worker.kill()
    let_lease_pass(worker)
    start_worker()
    assert ended(task_id) == ["succeeded"]
    assert sandbox.audit()["by_prompt"] == {"a fox": 1}


def test_killed_at_five_steps_at_once(start_worker, key, sandbox, hanging_host):
    worker = start_worker()
    copying = film(key, "being copied [download:hang=1]")
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the download that hangs")
    between = picture(key, "between intent and call", images=[{"image_url": f"{hanging_host.url}/dot.png"}])
    paying = picture(key, "in the paid image call [hang]")
    submitting = film(key, "in the paid video call [hang]")
    polling = film(key, "being polled [poll:held]")
    wait_until(lambda: hanging_host.requests and sandbox.audit()["jobs"] == 4, what="the paid calls")
    wait_until(lambda: sandbox.busy == 4, what="the poll that hangs")
    worker.kill()
    sandbox.release()
    let_lease_pass(worker)
    start_worker()
    assert ended(between, paying, submitting) == ["TASK_OUTCOME_UNKNOWN"] * 3
    assert ended(polling, copying) == ["succeeded"] * 2
    assert sandbox.audit()["jobs"] == 4
    assert {task(i).actual_micros for i in (between, paying, submitting)} == {0}
    assert Asset.objects.count() == 2


def test_killed_after_the_answer_before_its_handle_is_stored(start_worker, key, sandbox):
    worker = start_worker()
    task_id = picture(key, "a fox [held][url]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    kill_in_the_write(worker, sandbox, "tasks_call")
    start_worker()
    assert ended(task_id) == ["TASK_OUTCOME_UNKNOWN"]
    assert call(task_id).state == "unknown"
    assert sandbox.audit()["jobs"] == 1


def test_killed_in_the_end_transaction_the_film_is_settled_once(start_worker, key, sandbox):
    worker = start_worker()
    task_id = film(key, "a fox runs [download:held]")
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the download")
    kill_in_the_write(worker, sandbox, "accounts_account")
    start_worker()
    assert ended(task_id) == ["succeeded"]
    assert Asset.objects.count() == 1
    assert sandbox.audit()["jobs"] == 1


def test_killed_while_it_copies_past_the_deadline_the_film_is_delivered_by_another(start_worker, key, sandbox):
    worker = start_worker()
    copying, working = film(key, "a fox runs [download:held]"), film(key, "a hen runs [queued=3600]")
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the download")
    wait_until(lambda: task(working).status == "running", what="the other film's start")
    sql.run(f"UPDATE tasks_task SET deadline_at = {sql.later('-60')}")
    assert ended(working) == ["TASK_TIMEOUT"]
    kill(worker)
    let_lease_pass(worker)
    sandbox.release()
    start_worker()
    assert ended(copying) == ["succeeded"]
    assert sandbox.audit()["jobs"] == 2


def test_killed_with_bytes_in_hand_the_picture_is_unknown_and_not_bought_again(start_worker, key, sandbox):
    worker = start_worker()
    task_id = picture(key, "a fox [held]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    kill_in_the_write(worker, sandbox, "accounts_account")
    start_worker()
    assert ended(task_id) == ["TASK_OUTCOME_UNKNOWN"]
    assert sandbox.audit()["jobs"] == 1


@on_postgresql
def test_killed_in_the_shared_transaction_of_their_intents_no_task_was_bought(start_worker, key, sandbox):
    tasks = [picture(key, f"fox {n}") for n in range(5)]
    with held("tasks_call"):
        worker = start_worker()
        wait_until(lambda: waits_for("tasks_call"), what="the intents")
        kill(worker)
    assert (Call.objects.count(), sandbox.audit()["jobs"]) == (0, 0)
    let_lease_pass(worker)
    start_worker()
    assert ended(*tasks) == ["succeeded"] * 5
    assert sandbox.audit()["jobs"] == 5


@on_postgresql
def test_killed_in_the_shared_transaction_of_their_ends_no_task_has_ended(start_worker, key, other_key, sandbox):
    """The first task's end waits for its account, so those of the others gather; then these wait for theirs."""
    worker = start_worker()
    first = picture(key, "a fox [held]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    with ExitStack() as until_killed:
        with held_account(key.account.pk):
            sandbox.release()
            wait_until(waiting_for_account, what="the first task's end")
            tasks = [picture(other_key, f"hen {n}") for n in range(5)]
            finished = Call.objects.filter(task_id__in=tasks, finished_at__isnull=False)
            wait_until(lambda: finished.count() == 5, what="the answers")
            until_killed.enter_context(held_account(other_key.account.pk))
        assert ended(first) == ["succeeded"]
        wait_until(waiting_for_account, what="the others' end")
        kill(worker)
    assert set(Task.objects.filter(id__in=tasks).values_list("status", flat=True)) == {"running"}
    assert (Asset.objects.count(), steps.breaches()) == (1, [])
    let_lease_pass(worker)
    start_worker()
    assert ended(*tasks) == ["TASK_OUTCOME_UNKNOWN"] * 5
    assert sandbox.audit()["jobs"] == 6


def test_killed_again_and_again_nothing_is_lost(start_worker, key, sandbox):
    tasks = [picture(key, f"fox {n} [slow=0.3]") for n in range(30)] + [film(key, f"hen {n}") for n in range(30)]
    for _ in range(4):
        worker = start_worker()
        before = Task.objects.filter(finished_at=None).count()
        enough = max(before - 3, 1)
        wait_until(lambda: Task.objects.filter(finished_at=None).count() < enough, what="progress")  # noqa: B023
        kill(worker)
        let_lease_pass(worker)
    start_worker()
    assert set(ended(*tasks)) <= {"succeeded", "TASK_OUTCOME_UNKNOWN"}
    assert sandbox.audit()["jobs"] <= 60
