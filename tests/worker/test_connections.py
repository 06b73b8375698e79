"""No database connection is held while a provider, the storage or another thread works."""

import threading

import pytest
from django.db import connection
from requests.adapters import HTTPAdapter

from common import sql
from storage.files import FileStore
from tasks.models import Asset
from tests.tasks import steps
from tests.worker.driving import film, hurry, outage, picture
from worker.heal import deadlines
from worker.threads import BatchedStep

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model", "video_model")]


@pytest.fixture
def asked(monkeypatch):
    """For each request to a provider, whether its thread held a connection to the database."""
    held, send = [], HTTPAdapter.send

    def probe(*arguments, **options):
        held.append(connection.connection is not None)
        return send(*arguments, **options)

    monkeypatch.setattr(HTTPAdapter, "send", probe)
    return held


def test_none_is_held_during_a_paid_call(shift, key, asked):
    picture(key, "a fox")
    film(key, "a fox runs")
    shift.execute()
    shift.execute()
    assert asked == [False, False]


def test_none_is_held_during_a_poll_and_a_download(shift, key, asked):
    task_id = film(key, "a fox runs")
    shift.work(task_id)
    assert len(asked) >= 3
    assert not any(asked)


def test_none_is_held_while_a_job_is_cancelled(shift, key, asked, sandbox):
    task_id = film(key, "a fox runs [queued=3600]")
    shift.execute()
    steps.age(task_id, "deadline_at", -1)
    hurry()
    shift.poll()
    assert sandbox.audit()["canceled"] == 1
    assert not any(asked)


def test_none_is_held_when_a_call_was_refused(shift, key, asked, sandbox):
    outage(sandbox, path="/openai/", status=429, times=1)
    asked.clear()
    shift.work(picture(key, "a fox"))
    assert asked == [False, False]


def test_none_is_held_while_old_files_are_deleted(shift, key, monkeypatch):
    held, delete = [], FileStore.delete

    def probe(*arguments):
        held.append(connection.connection is not None)
        delete(*arguments)

    monkeypatch.setattr(FileStore, "delete", probe)
    shift.work(picture(key, "a fox"))
    Asset.objects.update(created_at="2020-01-01T00:00:00Z")
    deadlines.prune(threading.Event())
    assert held == [False]


def test_none_is_held_while_others_take_a_step_for_it():
    sql.value("SELECT 1")
    step: BatchedStep[int, int] = BatchedStep("test", lambda items: items)
    assert step.take(1) == 1
    assert connection.connection is None
