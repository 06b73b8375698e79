"""Rows that another version has written, or that nobody can read: they stop nobody but their own task or call."""

import logging
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from adapters.base import Accepted, Done
from adapters.kling.videos import KlingTasks
from tasks import paid_calls
from tasks.assets import assets
from tasks.models import Call, Task, TaskPayload
from tests.storage import samples
from tests.tasks import steps
from tests.worker.driving import Shift, at_provider, call, end_of, film, hurry, loaded, picture, task
from tests.worker.protocols import LANES
from tools.children import wait_until
from worker.deliver import copies
from worker.follow import polling

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model", "video_model")]


def of_another_version(task_id: str) -> None:
    """Every document of the task, and of its call, has a key that this version does not know."""
    row = Task.objects.select_related("payload").get(id=task_id)
    Task.objects.filter(id=task_id).update(price=row.price | {"currency": "EUR"})
    TaskPayload.objects.filter(task_id=task_id).update(params=row.payload.params | {"mood": "blue"})
    paid = call(task_id)
    changes = {name: getattr(paid, name) | {"new": 1} for name in ("target", "handle", "result") if getattr(paid, name)}
    if paid.result:
        changes["result"]["outputs"] = [output | {"codec": "av1"} for output in paid.result["outputs"]]
    Call.objects.filter(pk=paid.pk).update(**changes)


def errors(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("buy", [film, picture])
def test_what_was_bought_is_followed_and_charged_whatever_was_added_to_its_rows(shift, key, buy):
    task_id = buy(key, "a fox [url]" if buy is picture else "a fox runs")
    shift.execute()
    of_another_version(task_id)
    assert shift.work(task_id) == "succeeded"
    assert task(task_id).actual_micros == (40_000 if buy is picture else 200_000)


@pytest.mark.parametrize(
    "changes",
    [
        {"target": []},
        {"target": {"adapter": "ark_content_tasks", "upstream_model": "seedance-1"}},
        {"target": {"adapter": 5, "base_url": "https://x.example", "upstream_model": "seedance-1"}},
        {"handle": "cgt-1"},
        {"result": {"duration": 2}},
        {"result": {"outputs": [{"index": "0", "kind": "video"}], "duration": 2}},
    ],
    ids=str,
)
def test_a_call_that_cannot_be_read_stops_no_other_and_ends_with_its_deadline(shift, key, caplog, changes):
    bad, good = film(key, "a fox runs [held]"), film(key, "a crow flies")
    shift.execute()
    Call.objects.filter(task_id=bad).update(**changes)
    assert shift.work(good) == "succeeded"
    row = call(bad)
    assert (task(bad).status, row.state, row.outcome["kind"]) == ("running", "accepted", "unreadable")
    (said,) = {line for line in errors(caplog) if "cannot be read" in line}
    assert (f"call {row.pk} of task {bad}" in said, len(errors(caplog))) == (True, row.faults)
    assert row.next_poll_at > steps.clock() - timedelta(seconds=1)
    steps.age(bad, "deadline_at", -1)
    shift.sweep()
    shift.poll()
    assert (task(bad).status, call(bad).state) == ("timeout", "late")


def test_a_late_call_that_cannot_be_read_says_so_and_is_given_up_in_the_end(shift, key):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    steps.age(task_id, "deadline_at", -3600)
    Call.objects.filter(task_id=task_id).update(target={})
    shift.sweep()
    hurry()
    shift.poll()
    assert (call(task_id).state, call(task_id).outcome["kind"]) == ("late", "unreadable")
    Call.objects.filter(task_id=task_id).update(created_at=Now() - timedelta(days=3))
    hurry()
    shift.poll()
    assert call(task_id).state == "done"
    assert "Target: adapter, base_url, upstream_model is missing" in call(task_id).outcome["message"]


def test_a_handle_that_no_poll_can_be_made_of_spoils_no_other_of_its_batch(shift, key, caplog):
    bad, good = film(key, "a fox runs [held]"), film(key, "a crow flies")
    shift.execute()
    Call.objects.filter(task_id=bad).update(handle={"job": "x"})
    wait_until(lambda: at_provider(good) == "succeeded", what="the job's end")
    steps.age(good, "deadline_at", -3600)
    hurry()
    shift.poll()
    assert shift.work(good) == "succeeded"
    assert (task(bad).status, call(bad).faults, call(bad).outcome["kind"]) == ("running", 1, "unreadable")
    assert any(f"call {call(bad).pk} of task {bad}" in line for line in errors(caplog))


def test_a_job_whose_adapter_is_gone_ends_with_its_deadline(shift, key):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    Call.objects.filter(task_id=task_id).update(target=call(task_id).target | {"adapter": "gone"})
    steps.age(task_id, "deadline_at", -1)
    hurry()
    shift.poll()
    assert (end_of(task_id), call(task_id).state) == ("TASK_TIMEOUT", "late")


def test_a_call_that_cannot_be_read_is_not_cancelled_at_its_provider(shift, key):
    task_id = film(key, "a fox runs [held]")
    shift.execute()
    Call.objects.filter(task_id=task_id).update(target={}, next_poll_at=Now())
    (due,) = steps.due(shift.id)
    polling.cancel(due)
    assert call(task_id).state == "accepted"


def test_files_of_a_late_result_are_deleted_though_its_price_cannot_be_read(shift, key, root):
    task_id = picture(key, "a fox")
    (claimed,) = steps.claimed(shift.id)
    kept = assets.store([samples.picture("PNG")], kind="image")
    paid_calls.keep(steps.intended(claimed, shift.id), copies.of_files(Done(outputs=()), (kept,)))
    Task.objects.filter(id=task_id).update(price=[])
    steps.age(task_id, "deadline_at", -3600)
    shift.sweep()
    hurry()
    shift.poll()
    assert call(task_id).state == "lost"
    assert not (root.path / kept.storage_key).exists()


@pytest.mark.parametrize("price", [[], {"mode": "video_duration"}, {"mode": "by_weight"}], ids=str)
def test_a_price_that_cannot_be_read_charges_nothing_and_stops_no_other(shift, key, caplog, price):
    bad, good = film(key, "a fox runs"), film(key, "a crow flies")
    shift.execute()
    snapshot = {**task(bad).price, **price} if price == {"mode": "by_weight"} else price
    Task.objects.filter(id=bad).update(price=snapshot)
    assert shift.work(good) == "succeeded"
    wait_until(lambda: at_provider(bad) == "succeeded", what="the job's end")
    hurry()
    shift.poll()
    assert (task(bad).status, call(bad).outcome["kind"]) == ("running", "unreadable")
    assert any(f"call {call(bad).pk} of task {bad}" in line for line in errors(caplog))
    steps.age(bad, "deadline_at", -3600)
    shift.sweep()
    hurry()
    shift.poll()
    assert (task(bad).status, task(bad).actual_micros) == ("failed", 0)
    assert (call(bad).state, call(bad).cost_micros) == ("lost", None)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"params": {"prompt": "a fox", "mood": "blue"}}, "does not know params.mood"),
        (
            {"params": {"prompt": "a fox", "images": [{"image_url": "https://a.example.com/", "mask": {}}]}},
            "does not know params.images[0].mask",
        ),
        ({"params": None}, "params: is no object"),
        ({"params": {"prompt": 7}}, "TaskRequest: prompt is of a wrong type"),
        ({"price": {}}, "Price: mode, quantity, tier, unit_micros is missing"),
    ],
    ids=str,
)
def test_a_task_that_this_version_cannot_read_is_not_bought_and_waits_for_another(
    shift, key, sandbox, caplog, changes, why
):
    bad, good = picture(key, "a fox"), picture(key, "a crow")
    if "price" in changes:
        Task.objects.filter(id=bad).update(**changes)
    else:
        TaskPayload.objects.filter(task_id=bad).update(**changes)
    shift.execute()
    row = task(bad)
    assert (task(good).status, row.status, row.requeues) == ("succeeded", "queued", 1)
    assert row.not_before > steps.clock() - timedelta(seconds=1)
    assert sandbox.audit()["jobs"] == 1
    assert [bad in line and why in line for line in errors(caplog)] == [True]
    steps.age(bad, "deadline_at", -1)
    shift.sweep()
    assert task(bad).status == "timeout"


def test_a_call_that_cannot_be_read_keeps_no_other_from_adoption_or_lookup(
    shift, key, plan, sandbox, monkeypatch, caplog
):
    other = Shift()
    (kling,) = (lane for lane in LANES if str(lane) == "kling")
    kling.install(plan, sandbox)
    bad, strange, good = (steps.submitted(key, kling.body(prompt)) for prompt in ("a fox", "a crow", "a hare"))
    for claimed in other.claim():
        steps.intend(steps.intent(claimed, other.id, target=loaded(claimed).target))
    Call.objects.filter(task_id=bad).update(target={"adapter": "kling_tasks"})
    Call.objects.filter(task_id=strange).update(target=call(strange).target | {"region": "moon"})
    TaskPayload.objects.filter(task_id=strange).update(params={**kling.body("a crow")["params"], "mood": "blue"})
    monkeypatch.setattr(KlingTasks, "find", lambda *_: Accepted(handle={"id": "job-1"}, poll_after=100.0))
    steps.silence(other.id)
    shift.sweep()
    assert [end_of(each) for each in (bad, strange, good)] == ["TASK_OUTCOME_UNKNOWN", "running", "running"]
    assert [line for line in errors(caplog) if f"call {call(bad).pk} of task {bad} cannot be looked up" in line]
