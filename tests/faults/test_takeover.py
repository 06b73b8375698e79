"""A worker that was frozen past its lease wakes up beside the one that took over."""

from pathlib import Path

import pytest
from django.db.models import F

from tasks.models import Asset, TaskEvent, Worker
from tests.faults.scenes import ended, let_lease_pass
from tests.worker.driving import call, film, picture, task
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def start_idler(start_worker):
    """A worker that writes nothing while it waits for a provider: frozen in a transaction it would block the others."""
    worker = start_worker("--lanes", "tasks")
    wait_until(lambda: Worker.objects.filter(heartbeat_at__gt=F("started_at")).exists(), what="its first heartbeat")
    return worker


def test_its_writes_are_not_accepted_and_it_works_on(start_worker, key, sandbox, crew):
    frozen = start_idler(start_worker)
    task_id = film(key, "a fox runs [download:held]")
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the copy")
    frozen.pause()
    let_lease_pass(frozen)
    start_worker()
    wait_until(lambda: task(task_id).attempt == 2, what="the takeover")
    sandbox.release()
    assert ended(task_id) == ["succeeded"]
    frozen.unpause()
    frozen.wait_for_line("the result came too late")
    assert len(stored(crew)) == 1
    assert TaskEvent.objects.filter(task_id=task_id, status="succeeded").count() == 1
    assert Asset.objects.count() == 1
    assert (call(task_id).state, call(task_id).attempt) == ("done", 1)
    assert frozen.is_running


def stored(crew):
    folder = Path(crew.environment["ASSET_STORAGE"].removeprefix("file://")) / "results"
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_paid_call_that_was_frozen_ends_as_our_loss_at_most(start_worker, key, sandbox):
    frozen = start_idler(start_worker)
    task_id = picture(key, "a fox [held]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    frozen.pause()
    let_lease_pass(frozen)
    second = start_worker()
    assert ended(task_id) == ["TASK_OUTCOME_UNKNOWN"]
    sandbox.release()
    frozen.unpause()
    wait_until(lambda: call(task_id).state == "lost", what="the answer")
    assert task(task_id).actual_micros == 0
    assert TaskEvent.objects.filter(task_id=task_id, status="failed").count() == 1
    assert second.is_running
