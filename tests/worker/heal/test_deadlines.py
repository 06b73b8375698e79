"""What happens at the deadline, and what comes after it."""

import pytest

from billing.models import Hold
from catalog.models import ChannelModel, MediaModel, Route
from tests import deadlines
from tests.tasks import steps
from tests.threads import joined
from tests.worker.driving import Shift, at_provider, beside, call, film, hurry, outage, picture, task
from tools.children import wait_until
from worker.buy.jobs import GRACE_SECONDS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model", "video_model")]


def overdue(task_id, *, seconds=1):
    steps.age(task_id, "deadline_at", -seconds)


def late_film(shift, key, sandbox, prompt) -> str:
    """A task whose deadline has passed while its job was held at the provider, which now goes on."""
    task_id = film(key, prompt)
    shift.execute()
    wait_until(lambda: at_provider(task_id) == "running", what="the job's start")
    overdue(task_id)
    shift.sweep()
    shift.poll()
    assert call(task_id).state == "late"
    sandbox.release()
    return task_id


def test_a_queued_task_times_out_at_the_queue_deadline(shift, key):
    task_id = picture(key, "a fox")
    overdue(task_id)
    shift.sweep()
    assert (task(task_id).status, task(task_id).error["type"]) == ("timeout", "TASK_TIMEOUT")


def test_a_queued_task_has_the_queue_deadline_and_a_running_one_its_modalitys(shift, key):
    task_id = film(key, "a fox runs [held]")
    row = task(task_id)
    assert (row.deadline_at - row.created_at).total_seconds() == pytest.approx(86_400, abs=1)
    shift.execute()
    row = task(task_id)
    assert (row.deadline_at - row.started_at).total_seconds() == pytest.approx(7_200, abs=1)


def test_an_overdue_film_is_asked_for_once_more(shift, key):
    task_id = film(key, "a fox runs")
    shift.execute()
    wait_until(lambda: at_provider(task_id) == "succeeded", what="the job's end")
    overdue(task_id)
    shift.sweep()
    shift.poll()
    assert task(task_id).status == "succeeded"


def test_an_overdue_film_that_is_not_done_times_out_and_is_cancelled(shift, key, sandbox):
    task_id = film(key, "a fox runs [queued=3600]")
    shift.execute()
    overdue(task_id)
    shift.sweep()
    assert task(task_id).status == "running"
    shift.poll()
    assert (task(task_id).status, task(task_id).actual_micros) == ("timeout", 0)
    assert sandbox.audit()["canceled"] == 1
    assert call(task_id).state == "done"
    assert call(task_id).outcome == {"kind": "canceled"}


def test_a_job_that_cannot_be_cancelled_is_followed_and_booked_as_our_loss(shift, key, sandbox):
    ChannelModel.objects.filter(model__modality="video").update(cost={"720p": "0.03"})
    task_id = late_film(shift, key, sandbox, "a fox runs [held]")
    wait_until(lambda: shift.step() or call(task_id).state == "lost", what="the late result")
    assert (call(task_id).outcome, call(task_id).cost_micros) == ({"kind": "late"}, 60_000)
    assert (task(task_id).status, task(task_id).actual_micros) == ("timeout", 0)


def test_a_late_failure_ends_the_following(shift, key, sandbox):
    task_id = late_film(shift, key, sandbox, "a fox runs [fail][held]")
    wait_until(lambda: shift.step() or call(task_id).state == "done", what="the late failure")
    assert call(task_id).cost_micros is None


def test_a_job_still_queued_when_it_is_late_is_cancelled_then(shift, key, sandbox):
    """The deadline passed while the provider did not answer, so that nobody could cancel."""
    task_id = film(key, "a fox runs [queued=3600]")
    shift.execute()
    overdue(task_id, seconds=3600)
    shift.sweep()
    assert task(task_id).status == "timeout"
    assert call(task_id).state == "late"
    hurry()
    shift.poll()
    assert sandbox.audit()["canceled"] == 1
    assert call(task_id).outcome == {"kind": "canceled"}


def test_a_last_poll_that_meets_a_fault_ends_the_wait(shift, key, sandbox):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    overdue(task_id)
    outage(sandbox, path="/ark/", method="GET", status=503, times=1)
    shift.sweep()
    shift.poll()
    assert task(task_id).status == "timeout"


def test_a_last_poll_that_hangs_does_not_delay_the_end_for_long(shift, key):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    overdue(task_id)
    shift.sweep()
    assert task(task_id).status == "running"
    overdue(task_id, seconds=3600)
    shift.sweep()
    assert task(task_id).status == "timeout"


@pytest.mark.parametrize(("word", "state"), [("[held]", "lost"), ("[held][reset]", "unknown")])
def test_a_synchronous_call_is_not_waited_for_and_its_answer_changes_nothing(shift, key, sandbox, word, state):
    ChannelModel.objects.filter(model__modality="image").update(cost={"1K": "0.01"})
    task_id = picture(key, f"a fox {word}")
    running = beside(shift.execute)
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    overdue(task_id)
    shift.sweep()
    assert (task(task_id).status, task(task_id).error["type"]) == ("timeout", "TASK_TIMEOUT")
    sandbox.release()
    joined(running)
    assert (task(task_id).status, task(task_id).actual_micros) == ("timeout", 0)
    assert call(task_id).state == state
    assert call(task_id).cost_micros == (10_000 if state == "lost" else None)


def test_a_call_that_hangs_gives_its_seat_back_soon_after_the_deadline(shift, key, sandbox, settings):
    task_id = picture(key, "a fox [hang]")
    running = beside(shift.execute)
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    overdue(task_id)
    shift.sweep()
    assert task(task_id).status == "timeout"
    (paid,) = deadlines.running()
    assert paid.remaining <= settings.TASK_DEADLINES["image"] + GRACE_SECONDS
    deadlines.end()
    joined(running)
    assert call(task_id).state == "unknown"


def test_late_urls_are_our_loss_too(shift, key, sandbox):
    task_id = picture(key, "a fox [url][held]")
    running = beside(shift.execute)
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    overdue(task_id)
    shift.sweep()
    sandbox.release()
    joined(running)
    shift.poll()
    assert call(task_id).state == "lost"
    assert task(task_id).status == "timeout"


def broken_books(task_id):
    """No end of this task can be booked."""
    Hold.objects.filter(reference=task_id).update(state="released")


@pytest.mark.parametrize("why", ["overdue", "stranded"])
def test_a_task_that_cannot_be_ended_keeps_no_other_from_its_end(shift, key, caplog, why):
    broken, *others = [picture(key, f"fox {n}") for n in range(5)]
    broken_books(broken)
    if why == "overdue":
        for task_id in (broken, *others):
            overdue(task_id)
        shift.sweep()
    else:
        Route.objects.all().delete()
        MediaModel.objects.get(name="aurora-image").save()
        shift.claim()
    assert task(broken).status == "queued"
    assert {task(task_id).status for task_id in others} == {"timeout" if why == "overdue" else "failed"}
    said = [record.getMessage() for record in caplog.records if record.exc_info]
    assert [each for each in said if not each.startswith("swallowed in ")] == [f"task {broken} cannot be ended"]
    Hold.objects.filter(reference=broken).update(state="open")


def test_a_dead_workers_task_that_cannot_be_ended_keeps_no_other_from_its_end(shift, key, caplog):
    other = Shift()
    broken, good = [picture(key, f"fox {n}") for n in range(2)]
    for claimed in other.claim():
        steps.intended(claimed, other.id)
    broken_books(broken)
    steps.silence(other.id)
    shift.sweep()
    assert (task(broken).status, task(good).status) == ("running", "failed")
    Hold.objects.filter(reference=broken).update(state="open")
