"""What a poll that finds nothing new costs, and what hastens the next one."""

from datetime import timedelta

import pytest
from django.db.backends.signals import connection_created
from django.db.models.functions import Now

from tasks.due_calls import news
from tasks.models import Call
from tests.tasks import steps
from tests.worker.driving import call, film, hurry, task
from worker.heal import deadlines

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("video_model")]


@pytest.fixture
def opened():
    """The connections to the database that are opened meanwhile, by whichever thread."""
    found = []

    def note(connection, **_):
        found.append(connection)

    connection_created.connect(note)
    yield found
    connection_created.disconnect(note)


def test_a_poll_that_finds_nothing_new_writes_nothing_and_its_thread_needs_no_connection(shift, key, sandbox, opened):
    films = [film(key, f"a fox runs {number} [held]") for number in range(3)]
    shift.execute()
    for expected in (1, 2):
        hurry()
        before = [(task(each).progress, call(each).next_poll_at) for each in films]
        polls = sandbox.audit()["calls"].get("poll", 0)
        opened.clear()
        with steps.captured() as statements:
            shift.poll()
        assert sandbox.audit()["calls"]["poll"] == polls + 1
        assert [(task(each).progress, call(each).next_poll_at) for each in films] == before or expected == 1
    assert [statement for statement in statements if not statement.lstrip().startswith("SELECT")] == []
    assert (len(statements) <= 4, opened) == (True, [])


def test_a_fault_and_its_end_are_written(shift, key):
    task_id = film(key, "a fox runs [held][poll:reset=1]")
    shift.execute()
    for faults in (1, 0):
        hurry()
        shift.poll()
        assert call(task_id).faults == faults


def test_a_job_that_was_asked_for_a_moment_ago_is_asked_at_its_deadline(shift, key, video_channel):
    video_channel.options = {"poll_seconds": 60}
    video_channel.save()
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    hurry()
    shift.poll()
    Call.objects.update(next_poll_at=Now() - timedelta(seconds=9))  # idle polls do not move it
    deadlines.enforce_deadlines()
    shift.poll()
    assert task(task_id).status == "running"
    steps.age(task_id, "deadline_at", -1)
    deadlines.enforce_deadlines()
    shift.poll()
    assert task(task_id).status == "timeout"


def test_a_worker_sees_at_once_what_its_own_process_has_bought(shift, key):
    shift.polling.look()
    before = news.number
    film(key, "a fox runs [held]")
    shift.execute()
    assert news.number > before
    shift.polling.tick()
    assert len(shift.polling.schedule._entries) == 1
