"""All tasks of a claim are made ready together; one that cannot be keeps no other back."""

import time
from dataclasses import replace

import pytest

from billing.models import Hold
from common.database.database_retry import apart
from tasks.models import Call
from tests.tasks import steps
from tests.worker.driving import call, end_of, picture, task
from worker.buy import jobs, purchase
from worker.buy.jobs import Purchase

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model")]


def reached(shift, count: int) -> list[Purchase]:
    """So many of the queued tasks, ready for their intents."""
    found = jobs.ready(shift.claim()[:count])
    return [each for each in found if isinstance(each, Purchase)]


def test_many_tasks_cost_no_more_statements_than_one(shift, key):
    spent = {}
    for count in (1, 20):
        for number in range(count):
            picture(key, f"fox {number} of {count}")
        claimed = shift.claim()
        with steps.captured() as statements:
            assert all(isinstance(found, Purchase) for found in jobs.prepare(claimed, shift.id))
        spent[count] = len(statements)
    assert spent[1] == spent[20]


def test_a_claim_brings_all_that_jobs_are_built_of(shift, key):
    for number in range(3):
        picture(key, f"fox {number}")
    claimed = shift.claim()
    with steps.captured() as statements:
        prompts = [job.request.prompt for job in jobs.load(claimed) if isinstance(job, jobs.Job)]
    assert prompts == ["fox 0", "fox 1", "fox 2"]
    assert not [found for found in statements if "tasks_" in found]
    assert "fox" not in repr(claimed)


def test_one_that_cannot_be_loaded_fails_alone(shift, key):
    bad, good = picture(key, "a fox"), picture(key, "a hen")
    task(bad).payload.delete()
    assert shift.work(bad, good) == "TASK_INTERNAL_ERROR"
    assert end_of(good) == "succeeded"


def test_one_that_cannot_even_be_failed_keeps_no_other_from_its_purchase(shift, key):
    bad, good, left = picture(key, "a fox"), picture(key, "a hen"), picture(key, "a cow")
    for broken in (bad, left):
        task(broken).payload.delete()
    Hold.objects.filter(reference=bad).update(state="released")
    shift.execute()
    assert [end_of(each) for each in (bad, good, left)] == ["running", "succeeded", "TASK_INTERNAL_ERROR"]
    assert shift.execution.in_hand == frozenset()
    Hold.objects.filter(reference=bad).update(state="open")


def test_purchases_begin_before_what_is_left_of_their_claim_waits_for_the_database(shift, key):
    bad, _ = picture(key, "a fox"), picture(key, "a hen")
    task(bad).payload.delete()
    ends: list[str] = []
    shift.execution.run(shift.claim(), lambda pay: ends.append(end_of(bad)))
    assert (ends, end_of(bad)) == (["running"], "TASK_INTERNAL_ERROR")


def test_nothing_is_bought_for_a_task_whose_time_was_over_before_its_purchase_began(shift, key, sandbox):
    task_id = picture(key, "a fox")
    (ready,) = jobs.prepare(shift.claim(), shift.id)
    assert isinstance(ready, Purchase)
    purchase.make(replace(ready, job=replace(ready.job, ends_at=time.monotonic())))
    assert sandbox.audit()["calls"] == {}
    assert (task(task_id).status, call(task_id).outcome["kind"]) == ("queued", "unpaid")


def test_one_whose_intent_the_database_refuses_is_left_out_alone(shift, key):
    for number in range(5):
        picture(key, f"fox {number}")
    found = reached(shift, 5)
    found[2] = replace(found[2], credential_id=10**9)
    bought = apart(lambda each: jobs.intend(each, worker_id=shift.id), found)
    assert [isinstance(each, Purchase) for each in bought] == [True, True, False, True, True]
    assert Call.objects.count() == 4


def test_those_that_lost_their_fence_are_left_out(shift, key):
    lost, kept = picture(key, "a fox"), picture(key, "a hen")
    found = reached(shift, 2)
    task_row = task(lost)
    task_row.attempt += 1
    task_row.save()
    bought = jobs.intend(found, worker_id=shift.id)
    assert [type(each).__name__ for each in bought] == ["TakenOver", "Purchase"]
    assert Call.objects.get().task_id == kept
