"""Jobs that a provider did take although its answer was lost: attached, or bought again."""

from collections.abc import Callable

import pytest
import requests

from tasks.models import Task
from tasks.unknown import open_calls, resolve
from tests.tasks import steps
from tests.worker.driving import call, end_of, film, task
from tools.children import PATIENCE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("video_model")]


def unknown_film(shift, key, prompt: str) -> str:
    task_id = film(key, prompt)
    shift.execute()
    assert end_of(task_id) == "TASK_OUTCOME_UNKNOWN"
    return task_id


def job_at(sandbox) -> str:
    """What an operator finds in the provider's console."""
    url = f"{sandbox.url}/ark/api/v3/contents/generations/tasks"
    (job,) = requests.get(url, headers={"Authorization": "Bearer any"}, timeout=PATIENCE).json()["items"]
    return str(job["id"])


def test_an_attached_job_is_delivered_and_charged_once(shift, key, sandbox):
    lost = unknown_film(shift, key, "a fox runs [garbage]")
    new_id = resolve.attach(call(lost).pk, job_at(sandbox), by="ada")
    shift.sweep()
    assert shift.work(new_id) == "succeeded"
    assert (task(new_id).actual_micros, task(lost).actual_micros) == (200_000, 0)
    assert sandbox.audit()["jobs"] == 1
    assert not open_calls.open_calls()


def test_a_wrong_id_ends_without_a_charge(shift, key, sandbox):
    lost = unknown_film(shift, key, "a fox runs [garbage]")
    new_id = resolve.attach(call(lost).pk, "cgt-19700101000000-nobody", by="ada")
    shift.sweep()
    assert shift.work(new_id) == "TASK_UPSTREAM_ERROR"
    assert task(new_id).actual_micros == 0


def test_a_retry_buys_it_again_and_succeeds(shift, key, sandbox, bought_again):
    bought_again.add("a fox runs [garbage=1]")
    lost = unknown_film(shift, key, "a fox runs [garbage=1]")
    assert shift.work(resolve.retry(lost, by="ada")) == "succeeded"
    assert task(lost).status == "failed"


def test_of_operators_at_once_one_settles_the_call(shift, key, sandbox):
    lost = unknown_film(shift, key, "a fox runs [garbage]")
    call_id, job = call(lost).pk, job_at(sandbox)
    wishes = [lambda: resolve.attach(call_id, job, by="ada"), lambda: resolve.mark_lost(call_id, by="bob")] * 2
    granted = steps.at_once([lambda wish=wish: is_granted(wish) for wish in wishes])
    assert sum(granted) == 1
    assert Task.objects.filter(retry_of=lost).count() == (call(lost).outcome["resolved"] == "attached")


def is_granted(wish: Callable[[], object]) -> bool:
    try:
        wish()
    except open_calls.Refused:
        return False
    return True


def test_one_job_is_never_attached_to_two_tasks_at_once(shift, key, sandbox):
    lost = [call(unknown_film(shift, key, f"a fox runs {n} [garbage]")).pk for n in range(3)]
    wishes = [
        lambda call_id=call_id: is_granted(lambda: resolve.attach(call_id, "cgt-1", by="ada")) for call_id in lost
    ]
    assert sum(steps.at_once(wishes)) == 1
    assert Task.objects.filter(retry_of__isnull=False).count() == 1
