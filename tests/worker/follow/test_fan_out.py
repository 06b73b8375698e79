"""Protocols without a count: one task, several paid calls, one bill."""

import time
from types import SimpleNamespace

import pytest

from adapters.base import Done, ErrorKind, Output, Pending, UpstreamError
from billing.models import Hold
from catalog import connections
from catalog.health import outcomes
from catalog.models import Channel
from common.errors import StorageUnavailable
from storage import blobs
from tasks import due_calls, leases, paid_calls, polls
from tasks.models import Call
from tasks.paid_calls import CallEnd, Intended
from tests.rows import make_channel, make_route
from tests.tasks import steps
from tests.worker.driving import Shift, assets, end_of, hurry, loaded, outage, picture, task
from tools.children import PATIENCE, wait_until
from worker.buy import jobs
from worker.buy.failed_calls import Miss, judge
from worker.buy.purchase import Purchase, pay
from worker.deliver import copies
from worker.follow import fan_in, poll_results, polling
from worker.heal import adoption

pytestmark = pytest.mark.django_db(transaction=True)

LINKS, BYTES = ("ark_images", "/ark/api/v3"), ("gemini_generate_content", "/gemini")
MICROS = 40_000


@pytest.fixture
def image_channel(request, db, sandbox) -> Channel:
    """A protocol that answers one call with one picture: with its bytes, or by its address."""
    adapter, path = getattr(request, "param", BYTES)
    return make_channel("single", adapter, sandbox.url + path)


either = pytest.mark.parametrize("image_channel", [LINKS, BYTES], ids=["links", "bytes"], indirect=True)


@pytest.fixture(autouse=True)
def several(image_model, bought_again):
    """Every prompt here is bought once for each picture."""
    bought_again.update(PROMPTS)


PROMPTS = [
    f"a fox {word}".strip()
    for word in (
        "", "[partial]", "[reset=1]", "[reset]", "[moderated]", "[moderated=1]", "[rate-limited=1]", "[rate-limited=3]",
    )
]  # fmt: skip


def states(task_id: str) -> list[str]:
    return list(Call.objects.filter(task_id=task_id).order_by("attempt", "position").values_list("state", flat=True))


def bill(task_id: str) -> tuple[str, int, int]:
    row = task(task_id)
    return row.status, len(assets(task_id)), row.actual_micros or 0


@either
def test_a_call_for_each_picture_and_one_bill(shift, key, sandbox):
    task_id = picture(key, "a fox", n=3)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 3, 3 * MICROS)
    assert sandbox.audit()["by_prompt"] == {"a fox": 3}
    rows = Call.objects.filter(task_id=task_id).order_by("position")
    assert [(row.position, row.state, row.outcome["delivered"]) for row in rows] == [(n, "done", 1) for n in range(3)]
    assert len({row.request_digest for row in rows}) == 1


def test_the_intents_are_all_committed_before_the_first_call(shift, key, sandbox):
    task_id = picture(key, "a fox", n=2)
    (claimed,) = shift.claim()
    shift.execution.stop()
    shift.run([claimed])
    assert (states(task_id), task(task_id).status, sandbox.audit()["jobs"]) == ([], "queued", 0)


@pytest.mark.parametrize(
    ("image_channel", "word"),
    [(LINKS, "[reset=1]"), (BYTES, "[moderated=1]"), (LINKS, "[rate-limited=1]"), (BYTES, "[partial]")],
    ids=["reset", "moderated", "rate-limited", "partial"],
    indirect=["image_channel"],
)
def test_two_results_of_three_are_billed_as_two(shift, key, sandbox, word):
    task_id = picture(key, f"a fox {word}", n=3)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 2, 2 * MICROS)
    assert states(task_id).count("done") >= 2
    assert Hold.objects.get(reference=task_id).state == "settled"


def test_what_was_lost_on_the_way_is_listed_for_the_operator(shift, key, sandbox):
    task_id = picture(key, "a fox [reset=1]", n=2)
    assert shift.work(task_id) == "succeeded"
    assert sorted(states(task_id)) == ["done", "unknown"]
    assert sandbox.audit()["jobs"] == 2


def test_all_lost_is_an_unknown_outcome(shift, key, sandbox):
    task_id = picture(key, "a fox [reset]", n=2)
    assert shift.work(task_id) == "TASK_OUTCOME_UNKNOWN"
    assert states(task_id) == ["unknown", "unknown"]
    assert sandbox.audit()["jobs"] == 2


def test_all_refused_is_the_refusal(shift, key, sandbox):
    task_id = picture(key, "a fox [moderated]", n=2)
    assert shift.work(task_id) == "TASK_CONTENT_REJECTED"
    assert states(task_id) == ["refused", "refused"]
    assert sandbox.audit()["jobs"] == 0


def test_all_busy_waits_and_is_bought_once(shift, key, sandbox):
    task_id = picture(key, "a fox [rate-limited=3]", n=3)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 3, 3 * MICROS)
    assert sandbox.audit()["jobs"] == 3
    assert task(task_id).requeues == 1


def test_all_refused_goes_to_a_route_that_buys_the_same(shift, key, sandbox, plan, image_model):
    spare = make_channel("spare", "openai_images", f"{sandbox.url}/openai/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2", priority=200)
    path = Channel.objects.get(name="single").base_url.removeprefix(sandbox.url)
    outage(sandbox, path=path, status=503, times=2, retry_after=1)
    task_id = picture(key, "a fox", n=2)
    assert [shift.execute(), shift.execute()] == [1, 1]
    assert bill(task_id) == ("succeeded", 2, 2 * MICROS)
    assert sandbox.audit()["jobs"] == 1  # of the spare route, which takes a count
    assert states(task_id) == ["refused", "refused", "done"]


def test_one_lost_beside_a_refusal_is_never_bought_elsewhere(shift, key, sandbox, plan, image_model):
    spare = make_channel("spare", "openai_images", f"{sandbox.url}/openai/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2", priority=200)
    path = Channel.objects.get(name="single").base_url.removeprefix(sandbox.url)
    outage(sandbox, path=path, status=503, times=1, retry_after=1)
    outage(sandbox, path=path, status=500, times=1)
    task_id = picture(key, "a fox", n=2)
    assert shift.work(task_id) == "TASK_OUTCOME_UNKNOWN"
    assert sorted(states(task_id)) == ["refused", "unknown"]


def test_bytes_that_cannot_be_stored_in_time_end_as_that(shift, key, sandbox, root, monkeypatch):
    task_id = picture(key, "a fox", n=2)
    root.take_away()
    # The deadline, and the time after it, pass with the paid calls.
    passed = SimpleNamespace(monotonic=lambda: time.monotonic() + 3600 * sandbox.audit()["jobs"])
    monkeypatch.setattr("worker.deliver.copies.time", passed)
    shift.execute()
    assert end_of(task_id) == "TASK_STORAGE_UNAVAILABLE"
    assert Hold.objects.get(reference=task_id).state == "released"
    rows = Call.objects.filter(task_id=task_id)
    assert [(row.state, row.outcome["kind"]) for row in rows] == [("done", "unstored")] * 2


def test_the_last_call_of_several_ends_the_task_as_what_it_met(shift, key):
    for last, end in (({"unstored": "away"}, "TASK_STORAGE_UNAVAILABLE"), ({"broken": "?"}, "TASK_OUTCOME_UNKNOWN")):
        task_id, job, (first, second) = intended(shift, key)
        judge(job, [Miss(call_id=first.id, error=EMPTY)], has_others=True)
        judge(job, [Miss(call_id=second.id, **last)], has_others=True)
        assert end_of(task_id) == end


def test_a_result_that_was_there_decides_before_one_that_never_was(shift, key):
    task_id, job, (first, second) = intended(shift, key)
    judge(job, [Miss(call_id=first.id, error=EMPTY), Miss(call_id=second.id, unstored="away")], has_others=False)
    assert end_of(task_id) == "TASK_STORAGE_UNAVAILABLE"


def intended(shift: Shift, key) -> tuple[str, jobs.Job, tuple[Intended, ...]]:
    """A task with two intents."""
    task_id = picture(key, "a fox", n=2)
    (claimed,) = shift.claim()
    job = loaded(claimed)
    intent = steps.intent(claimed, shift.id, target=job.target, channel_id=job.route.channel.id)
    return task_id, job, steps.intend(intent, 2)


def halfway(shift: Shift, key) -> tuple[str, jobs.Job, tuple[Intended, ...]]:
    """The same, and the first is answered."""
    task_id, job, calls = intended(shift, key)
    credential_id, connection = connections.to(job.route.channel.id, job.target, total_timeout=PATIENCE)
    purchase = Purchase(job=job, calls=calls, credential_id=credential_id, connection=connection)
    pay(purchase, calls[0], [])
    return task_id, job, calls


@either
def test_a_result_waits_for_its_siblings(shift, key):
    task_id, _, _ = halfway(shift, key)
    for _ in range(3):
        hurry()
        shift.poll()
    assert (task(task_id).status, states(task_id)) == ("running", ["accepted", "intent"])


@either
def test_a_crash_between_two_answers_delivers_what_was_answered(shift, key, sandbox):
    task_id, _, _ = halfway(shift, key)
    steps.silence(shift.id)
    other = Shift()
    other.sweep()
    assert other.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 1, MICROS)
    assert states(task_id) == ["done", "unknown"]
    assert sandbox.audit()["jobs"] == 1


@either
def test_at_the_deadline_the_results_at_hand_are_delivered(shift, key):
    task_id, _, _ = halfway(shift, key)
    steps.age(task_id, "deadline_at", -1)
    shift.sweep()
    hurry()
    shift.poll()
    assert bill(task_id) == ("succeeded", 1, MICROS)
    assert states(task_id) == ["done", "late"]


@pytest.mark.parametrize("image_channel", [LINKS], indirect=True)
def test_results_of_several_calls_are_copied_when_storage_comes_back_after_the_deadline(shift, key, root):
    task_id = picture(key, "a fox", n=2)
    root.take_away()
    wait_until(lambda: shift.step() or Call.objects.filter(task_id=task_id, copy_faults__gt=0), what="a failed copy")
    steps.age(task_id, "deadline_at", -600)
    shift.sweep()
    shift.step()
    assert task(task_id).status == "running"
    root.bring_back()
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 2, 2 * MICROS)


@pytest.mark.parametrize(("seconds", "images"), [(600, 2), (901, 1)])
def test_after_the_deadline_results_wait_for_bytes_of_a_sibling_as_long_as_those_may_be_copied(
    shift, key, seconds, images
):
    task_id, _, calls = halfway(shift, key)
    paid_calls.finish([calls[1].id])
    steps.age(task_id, "deadline_at", -seconds)
    shift.sweep()
    hurry()
    shift.poll()
    assert bill(task_id) == (("running", 0, 0) if images == 2 else ("succeeded", 1, MICROS))
    paid_calls.keep(calls[1].id, copies.of_files(Done(outputs=()), (steps.asset(),)))
    hurry()
    shift.poll()
    assert bill(task_id) == ("succeeded", images, images * MICROS)


def test_a_job_that_is_not_over_at_its_last_poll_leaves_its_task_to_one_that_is(shift, key):
    task_id, _, calls = intended(shift, key)
    for call in calls:
        paid_calls.accept(call.id, {"id": f"job-{call.id}"}, poll_after=0.0)
    steps.age(task_id, "deadline_at", -1)
    answered = list(zip(steps.due(shift.id), (DONE, Pending(poll_after=1.0)), strict=True))
    paid_calls.finish(poll_results.newly_finished(answered))
    assert poll_results.settle(answered) == []
    assert (task(task_id).status, states(task_id)) == ("running", ["accepted", "accepted"])


@either
def test_a_result_after_the_end_is_our_loss_and_leaves_no_file(shift, key):
    task_id, job, _ = halfway(shift, key)
    kept = Call.objects.get(task_id=task_id, position=0).result.get("assets", [])
    steps.end(job.task, "timeout")
    assert states(task_id) == ["late", "late"]
    hurry()
    shift.poll()
    assert states(task_id) == ["lost", "late"]
    for asset in kept:
        with pytest.raises(StorageUnavailable):
            blobs.open(asset["storage_key"])


def test_the_last_of_several_failures_ends_the_task(shift, key):
    task_id, _, calls = halfway(shift, key)
    first, second = calls
    assert paid_calls.drop(CallEnd(id=first.id, state="done"), task_id)
    assert not paid_calls.drop(CallEnd(id=second.id, state="refused"), task_id)
    assert states(task_id) == ["done", "intent"]
    steps.silence(shift.id)
    Shift().sweep()
    assert (task(task_id).status, states(task_id)) == ("failed", ["done", "unknown"])


@either
def test_a_former_worker_leaves_the_kept_files_to_its_adopter(shift, key):
    task_id = picture(key, "a fox", n=2)
    shift.execute()
    hurry()
    first = min(steps.due(shift.id), key=lambda due: due.id)
    steps.silence(shift.id)
    other = Shift()
    other.sweep()
    polling.deliver(first, fan_in.ready(first, polling.ask([first])[0]))
    assert (task(task_id).status, states(task_id)) == ("running", ["accepted", "accepted"])
    assert other.work(task_id) == "succeeded"
    assert len([blobs.open(asset.storage_key).close() for asset in assets(task_id)]) == 2


DONE = Done(outputs=(Output(index=0, kind="image", url="https://cdn.provider.example/1.png"),))
EMPTY, BUSY = UpstreamError(ErrorKind.EMPTY_RESULT, "nothing"), UpstreamError(ErrorKind.RATE_LIMITED, "wait")


@pytest.mark.parametrize("errors", [(BUSY, EMPTY), (EMPTY, BUSY)])
def test_what_was_bought_for_nothing_is_not_bought_again_because_a_sibling_was_refused(shift, key, errors):
    task_id, job, calls = intended(shift, key)
    misses = [Miss(call_id=call.id, error=error) for call, error in zip(calls, errors, strict=True)]
    judge(job, misses, has_others=False)
    assert (task(task_id).status, task(task_id).error["type"]) == ("failed", "TASK_UPSTREAM_ERROR")
    assert sorted(states(task_id)) == ["done", "refused"]


def test_an_answer_that_comes_while_its_task_is_adopted_is_not_given_up(shift, key, monkeypatch):
    task_id, _, calls = halfway(shift, key)
    adopt = leases.adopt

    def answered_meanwhile(worker_id):
        orphans = adopt(worker_id)
        paid_calls.keep(calls[1].id, Call.objects.get(id=calls[0].id).result)
        return orphans

    monkeypatch.setattr(leases, "adopt", answered_meanwhile)
    steps.silence(shift.id)
    adoption.adopt(Shift().id)
    assert states(task_id) == ["accepted", "accepted"]


def test_an_overdue_job_leaves_its_task_to_a_sibling_with_a_result(shift, key):
    task_id, _, calls = halfway(shift, key)
    paid_calls.accept(calls[1].id, {"id": "job-2"}, poll_after=0.0)
    steps.age(task_id, "deadline_at", -1)
    (pending,) = (due for due in steps.due(shift.id) if due.result is None)
    assert poll_results.settle([(pending, Pending(poll_after=1.0))]) == []
    assert (task(task_id).status, states(task_id)) == ("running", ["accepted", "accepted"])


@pytest.mark.parametrize("first", [0, 1])
def test_overdue_jobs_that_are_polled_apart_end_their_task_with_the_last_of_them(shift, key, first):
    task_id, _, calls = intended(shift, key)
    for call in calls:
        paid_calls.accept(call.id, {"id": f"job-{call.id}"}, poll_after=0.0)
    steps.age(task_id, "deadline_at", -1)
    due = steps.due(shift.id)
    for call, status in ((due[first], "running"), (due[1 - first], "timeout")):
        polls.reschedule([due_calls.Reschedule.of(call, 60.0)])
        poll_results.settle([(call, Pending(poll_after=60.0))])
        assert task(task_id).status == status
    assert states(task_id) == ["late", "late"]


def test_several_overdue_jobs_of_one_task_are_one_timeout(shift, key):
    task_id, _, calls = intended(shift, key)
    for call in calls:
        paid_calls.accept(call.id, {"id": f"job-{call.id}"}, poll_after=0.0)
    steps.age(task_id, "deadline_at", -1)
    hurry()
    due = steps.due(shift.id)
    asked_to_cancel = poll_results.settle([(call, Pending(poll_after=1.0)) for call in due])
    assert (task(task_id).status, states(task_id)) == ("timeout", ["late", "late"])
    assert len(asked_to_cancel) == 2


def test_the_health_of_a_channel_never_decides_about_a_paid_call(shift, key, monkeypatch):
    monkeypatch.setattr(outcomes, "_marks_statement", lambda *_: "SELECT no such thing")
    task_id = picture(key, "a fox", n=2)
    assert shift.work(task_id) == "succeeded"
    assert bill(task_id) == ("succeeded", 2, 2 * MICROS)
