"""What a provider has finished by the deadline is copied for 15 minutes more, whoever dies or is away meanwhile."""

import time
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from django.db.models.functions import Now

from adapters.base import Connection, Done, ErrorKind, Output, UpstreamError
from billing.models import Hold
from tasks import due_calls, paid_calls, polls
from tasks.models import Call, Task
from tests.tasks import steps
from tests.threads import joined
from tests.worker.driving import (
    Root,
    Shift,
    at_provider,
    beside,
    call,
    end_of,
    film,
    hurry,
    outage,
    picture,
    task,
)
from tools.children import wait_until
from worker.deliver import copies
from worker.deliver.copies import CallResult
from worker.follow import poll_results, polling
from worker.follow.polling import UNUSABLE_TRIES
from worker.heal import deadlines
from worker.heal.deadlines import HANGING_POLL_SECONDS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model", "video_model")]

WITHIN, OVER, LONG_OVER = 600, 901, 3_600
"""Seconds after the deadline: it may be copied, it is tried for the last time, nobody waits for it."""


def pass_deadline(task_id: str, seconds: int) -> None:
    steps.age(task_id, "deadline_at", -seconds)


def refused_film(shift: Shift, key, root: Root) -> str:
    """A film that its provider has finished, and our storage does not take."""
    task_id = film(key, "a fox runs")
    root.take_away()
    wait_until(lambda: shift.step() or call(task_id).copy_faults, what="a failed copy")
    return task_id


def copying_film(shift: Shift, key, sandbox) -> str:
    """A film whose download hangs until it is released."""
    task_id = film(key, "a fox runs [download:held]")
    shift.execute()
    wait_until(lambda: at_provider(task_id) == "succeeded", what="the job's end")
    hurry()
    shift.polling.tick()
    wait_until(lambda: sandbox.audit()["calls"].get("download"), what="the download")
    return task_id


def test_a_film_is_copied_when_storage_comes_back_after_the_deadline(shift, key, root, sandbox):
    task_id = refused_film(shift, key, root)
    pass_deadline(task_id, WITHIN)
    shift.sweep()
    shift.step()
    assert task(task_id).status == "running"
    root.bring_back()
    assert shift.work(task_id) == "succeeded"
    assert (task(task_id).actual_micros, sandbox.audit()["jobs"]) == (200_000, 1)


def test_a_film_that_storage_never_takes_ends_15_minutes_later_as_that(shift, key, root, sandbox):
    task_id = refused_film(shift, key, root)
    pass_deadline(task_id, OVER)
    shift.sweep()
    shift.poll()
    assert end_of(task_id) == "TASK_STORAGE_UNAVAILABLE"
    assert (call(task_id).state, call(task_id).outcome["kind"]) == ("done", "copy_failed")
    assert Hold.objects.get(reference=task_id).state == "released"


def test_a_film_that_is_finished_at_its_last_poll_is_copied_later(shift, key, root):
    task_id = film(key, "a fox runs")
    shift.execute()
    wait_until(lambda: at_provider(task_id) == "succeeded", what="the job's end")
    root.take_away()
    pass_deadline(task_id, 1)
    shift.sweep()
    shift.poll()
    pass_deadline(task_id, WITHIN)
    shift.sweep()
    assert (task(task_id).status, call(task_id).copy_faults) == ("running", 1)
    root.bring_back()
    assert shift.work(task_id) == "succeeded"


def test_a_film_that_never_reaches_its_store_is_asked_for_until_15_minutes_later(shift, key, sandbox):
    task_id = film(key, "a fox runs [download:status=404]")
    wait_until(lambda: shift.step() or call(task_id).copy_faults > UNUSABLE_TRIES, what="many tries")
    tries = call(task_id).copy_faults
    pass_deadline(task_id, WITHIN)
    shift.sweep()
    shift.step()
    assert (task(task_id).status, call(task_id).copy_faults) == ("running", tries + 1)
    pass_deadline(task_id, OVER)
    shift.sweep()
    shift.poll()
    assert (end_of(task_id), sandbox.audit()["jobs"]) == ("TASK_UPSTREAM_ERROR", 1)
    assert (call(task_id).state, call(task_id).outcome["kind"]) == ("done", "copy_failed")
    assert Hold.objects.get(reference=task_id).state == "released"


def test_a_picture_that_never_comes_costs_the_others_nothing_but_time(shift, key, sandbox):
    task_id = picture(key, "a fox [url]", n=3)
    shift.execute()
    lost = urlsplit(call(task_id).result["outputs"][1]["url"]).path
    outage(sandbox, path=lost, status=404, times=1_000)
    wait_until(lambda: shift.step() or call(task_id).copy_faults > UNUSABLE_TRIES, what="many tries")
    assert task(task_id).status == "running"
    pass_deadline(task_id, OVER)
    shift.sweep()
    shift.poll()
    assert (end_of(task_id), task(task_id).actual_micros) == ("succeeded", 80_000)


def test_a_download_may_take_longer_than_the_deadline(shift, key, sandbox):
    task_id = copying_film(shift, key, sandbox)
    pass_deadline(task_id, WITHIN)
    shift.sweep()
    assert task(task_id).status == "running"
    sandbox.release()
    assert shift.work(task_id) == "succeeded"


def test_a_download_that_hangs_is_not_waited_for_for_ever_and_is_then_our_loss(shift, key, sandbox):
    task_id = copying_film(shift, key, sandbox)
    pass_deadline(task_id, LONG_OVER)
    shift.sweep()
    assert (end_of(task_id), call(task_id).state) == ("TASK_STORAGE_UNAVAILABLE", "late")
    sandbox.release()
    wait_until(lambda: shift.step() or call(task_id).state == "lost", what="the late result")
    assert task(task_id).actual_micros == 0


def test_a_worker_that_dies_meanwhile_leaves_the_rest_of_the_time_to_its_adopter(shift, key, root):
    task_id = refused_film(shift, key, root)
    pass_deadline(task_id, WITHIN)
    steps.silence(shift.id)
    other = Shift()
    other.sweep()
    other.step()
    assert task(task_id).status == "running"
    root.bring_back()
    assert other.work(task_id) == "succeeded"


def test_a_poll_fault_ends_no_film_that_is_finished(shift, key, root, sandbox):
    task_id = refused_film(shift, key, root)
    root.bring_back()
    pass_deadline(task_id, WITHIN)
    outage(sandbox, path="/ark/", method="GET", status=503, times=1)
    hurry()
    shift.poll()
    assert (task(task_id).status, call(task_id).faults) == ("running", 1)
    assert shift.work(task_id) == "succeeded"


def test_a_finished_film_whose_last_poll_meets_a_fault_is_no_timeout_and_not_cancelled(shift, key, root, sandbox):
    task_id = refused_film(shift, key, root)
    pass_deadline(task_id, OVER)
    outage(sandbox, path="/ark/", method="GET", status=503, times=1)
    shift.sweep()
    shift.poll()
    assert (end_of(task_id), call(task_id).state) == ("TASK_STORAGE_UNAVAILABLE", "late")


def test_a_finished_job_is_not_among_those_to_cancel(shift, key, root):
    task_id = refused_film(shift, key, root)
    pass_deadline(task_id, OVER)
    hurry()
    (due,) = steps.due(shift.id)
    assert poll_results.settle([(due, UpstreamError(ErrorKind.TRANSIENT, "away"))]) == []
    assert end_of(task_id) == "TASK_STORAGE_UNAVAILABLE"


def test_a_job_that_was_finished_while_its_worker_was_dead_is_asked_for_by_its_adopter(shift, key, monkeypatch):
    monkeypatch.setattr(deadlines, "HANGING_POLL_SECONDS", 12)
    task_id = film(key, "a fox runs")
    shift.execute()
    wait_until(lambda: at_provider(task_id) == "succeeded", what="the job's end")
    steps.silence(shift.id)
    pass_deadline(task_id, 60)
    deadlines.enforce_deadlines()
    assert task(task_id).status == "running"
    other = Shift()
    other.sweep()
    assert other.work(task_id) == "succeeded"


def test_a_job_whose_worker_is_dead_is_not_waited_for_for_ever(shift, key):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    steps.silence(shift.id)
    pass_deadline(task_id, OVER)
    deadlines.enforce_deadlines()
    assert (end_of(task_id), call(task_id).state) == ("TASK_TIMEOUT", "late")


def test_a_poll_that_hangs_is_waited_for_longer_than_it_may_take(shift, key):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    pass_deadline(task_id, 3_600)
    for seconds, end in ((polling.LAST_POLL_SECONDS, "running"), (3_600, "TASK_TIMEOUT")):
        Task.objects.filter(id=task_id).update(deadline_at=Now() - timedelta(seconds=seconds))
        Call.objects.filter(task_id=task_id).update(next_poll_at=Now() - timedelta(seconds=seconds))
        deadlines.enforce_deadlines()
        assert end_of(task_id) == end, seconds


def test_the_janitor_waits_longer_than_a_worker_needs_to_see_that_a_last_poll_is_due_and_to_make_it():
    assert due_calls.LOOK_SECONDS + polling.LAST_POLL_SECONDS < HANGING_POLL_SECONDS


def test_a_result_that_is_missing_is_asked_for_again_as_long_as_it_may_be_copied(shift, key, root):
    task_id = refused_film(shift, key, root)
    pass_deadline(task_id, WITHIN)
    hurry()
    (due,) = steps.due(shift.id)
    answer = poll_results.doubted(replace(due, faults=0), UpstreamError(ErrorKind.EMPTY_RESULT, "gone"))
    assert not poll_results.is_final(answer)


def test_a_result_that_is_kept_is_finished_before_its_first_poll(shift, key):
    task_id = picture(key, "a fox")
    (claimed,) = steps.claimed(shift.id)
    paid_calls.keep(steps.intended(claimed, shift.id), {"outputs": [], "duration": None})
    pass_deadline(task_id, WITHIN)
    deadlines.enforce_deadlines()
    assert task(task_id).status == "running"


def test_all_files_of_a_result_share_the_time_that_is_left(monkeypatch):
    given: list[float] = []

    class Slow:
        def open_output(self, output, connection):
            given.append(connection.total_timeout)
            raise UpstreamError(ErrorKind.TRANSIENT, "slow")

    passed = SimpleNamespace(monotonic=lambda: 20.0 * len(given))
    monkeypatch.setattr(copies, "time", passed)
    outputs = tuple(Output(index=index, kind="image", url="https://x.example/a") for index in range(3))
    connection = Connection(base_url="https://x.example", credentials={}, total_timeout=30.0, open_stored=open)
    copies.make([CallResult(call_id=1, done=Done(outputs=outputs))], Slow(), connection)
    assert given == [30.0, 10.0, copies.LEAST_SECONDS]


def test_the_waits_between_copies_stay_as_they_are_after_the_deadline_and_end_with_the_time(shift, key, root):
    task_id = refused_film(shift, key, root)
    polls.reschedule([due_calls.Reschedule(call_id=call(task_id).pk, task_id="", attempt=0, delay_seconds=3_600)])
    for seconds, is_due in ((WITHIN, False), (OVER, True)):
        pass_deadline(task_id, seconds)
        shift.sweep()
        assert bool(steps.due(shift.id)) is is_due, seconds


def test_bytes_in_hand_are_kept_past_the_deadline_until_storage_is_back(shift, key, root, sandbox, caplog, monkeypatch):
    task_id = picture(key, "a fox")
    root.take_away()
    # The deadline passes with the paid call.
    passed = SimpleNamespace(monotonic=lambda: time.monotonic() + 1_000 * sandbox.audit()["jobs"], sleep=time.sleep)
    monkeypatch.setattr("worker.deliver.copies.time", passed)
    executing = beside(shift.execute)
    wait_until(lambda: caplog.text.count("a result could not be copied") > 1, what="a second try")
    pass_deadline(task_id, WITHIN)
    shift.sweep()
    assert task(task_id).status == "running"
    root.bring_back()
    joined(executing)
    assert (task(task_id).status, task(task_id).actual_micros) == ("succeeded", 40_000)


def test_bytes_that_died_with_their_worker_are_an_unknown_outcome_and_no_timeout(shift, key):
    task_id = picture(key, "a fox")
    (claimed,) = steps.claimed(shift.id)
    assert paid_calls.finish([steps.intended(claimed, shift.id)])
    pass_deadline(task_id, WITHIN)
    shift.sweep()
    assert task(task_id).status == "running"
    steps.silence(shift.id)
    Shift().sweep()
    assert (end_of(task_id), call(task_id).state) == ("TASK_OUTCOME_UNKNOWN", "unknown")


def test_bytes_for_a_task_that_has_ended_are_not_waited_for(shift, key, root, sandbox):
    task_id = picture(key, "a fox [held]")
    executing = beside(shift.execute)
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    root.take_away()
    pass_deadline(task_id, 1)
    shift.sweep()
    assert end_of(task_id) == "TASK_TIMEOUT"
    sandbox.release()
    joined(executing)
    assert call(task_id).state == "lost"
