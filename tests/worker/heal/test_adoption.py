"""What a dead worker leaves behind, and what a living one has lost sight of."""

import threading

import pytest

from adapters.base import Accepted, ErrorKind, UpstreamError
from adapters.kling.videos import KlingTasks
from billing.models import Hold
from catalog import connections
from catalog.models import Route
from tasks import due_calls, leases, lifecycle
from tasks.lifecycle import Ending
from tasks.models import Call
from tests.tasks import steps
from tests.threads import joined
from tests.worker.driving import Shift, WaitedFor, at_provider, beside, call, end_of, film, hurry, loaded, picture, task
from tests.worker.protocols import LANES
from tools.children import PATIENCE, wait_until
from worker.buy.failed_calls import Miss, judge
from worker.buy.purchase import Purchase, make
from worker.follow import fan_in, polling
from worker.heal import adoption
from worker.heal.adoption import OwnOrphans

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model", "video_model")]


@pytest.fixture
def other(transactional_db):
    return Shift()


@pytest.fixture
def orphans(shift):
    return OwnOrphans(shift.id, lambda: shift.execution.in_hand)


def test_a_task_that_was_not_bought_is_queued_again_and_runs(shift, other, key, sandbox):
    task_id = picture(key, "a fox")
    other.claim()
    steps.silence(other.id)
    shift.sweep()
    assert (task(task_id).status, task(task_id).requeues) == ("queued", 0)
    assert shift.work(task_id) == "succeeded"


def test_a_task_that_may_have_been_bought_ends_as_unknown_and_is_not_charged(shift, other, key, sandbox):
    task_id = picture(key, "a fox")
    (claimed,) = other.claim()
    call_id = steps.intended(claimed, other.id)
    steps.silence(other.id)
    shift.sweep()
    assert task(task_id).error["type"] == "TASK_OUTCOME_UNKNOWN"
    assert Hold.objects.get(reference=task_id).state == "released"
    assert (call(task_id).id, call(task_id).state) == (call_id, "unknown")
    assert shift.execute() == 0


def test_an_accepted_job_is_polled_on_by_the_adopter(shift, other, key, sandbox):
    task_id = film(key, "a fox runs")
    other.execute()
    leases.stop(other.id)
    shift.sweep()
    assert task(task_id).status == "running"
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 1


def test_the_former_worker_writes_nothing_after_the_takeover(shift, other, key):
    task_id = film(key, "a fox runs [fail]")
    other.execute()
    hurry()
    (due,) = steps.due(other.id)
    steps.silence(other.id)
    shift.sweep()
    wait_until(lambda: at_provider(task_id) == "failed", what="the job's end")
    other.polling._poll([due])
    assert (task(task_id).status, call(task_id).state) == ("running", "accepted")
    assert shift.work(task_id) == "TASK_UPSTREAM_ERROR"


def test_the_former_workers_copy_is_thrown_away(shift, other, key, sandbox):
    task_id = film(key, "a fox runs")
    other.execute()
    wait_until(lambda: at_provider(task_id) == "succeeded", what="the job's end")
    hurry()
    (due,) = steps.due(other.id)
    steps.silence(other.id)
    shift.sweep()
    (done,) = polling.ask([due])
    polling.deliver(due, fan_in.ready(due, done))
    assert (task(task_id).status, call(task_id).state) == ("running", "accepted")
    assert shift.work(task_id) == "succeeded"
    assert sandbox.audit()["jobs"] == 1


def test_a_worker_that_lost_its_task_before_the_intent_does_not_call(shift, other, key, sandbox):
    task_id = picture(key, "a fox")
    (claimed,) = other.claim()
    steps.silence(other.id)
    shift.sweep()
    other.run([claimed])
    assert task(task_id).status == "queued"
    assert sandbox.audit()["jobs"] == 0


LOST = UpstreamError(ErrorKind.AMBIGUOUS, "lost")
EMPTY = UpstreamError(ErrorKind.EMPTY_RESULT, "no file in it")
BUSY = UpstreamError(ErrorKind.OVERLOADED, "busy")


@pytest.mark.parametrize("decides", ["the next adopter", "the adopter's second look"])
@pytest.mark.parametrize(
    ("errors", "end"),
    [
        ([LOST], "TASK_OUTCOME_UNKNOWN"),
        ([EMPTY], "TASK_UPSTREAM_ERROR"),
        ([LOST, BUSY], "TASK_OUTCOME_UNKNOWN"),
        ([BUSY, EMPTY, LOST], "TASK_OUTCOME_UNKNOWN"),
        ([BUSY], "queued"),
    ],
    ids=lambda value: "+".join(error.kind for error in value) if isinstance(value, list) else None,
)
def test_what_a_call_cost_after_the_takeover_is_known_to_whoever_decides(
    shift, other, orphans, key, decides, errors, end
):
    """The lease passes while the call is open, and the adopter breaks off before it decides what to do."""
    task_id = picture(key, "a fox")
    (claimed,) = other.claim()
    job = loaded(claimed)
    calls = steps.intend(steps.intent(claimed, other.id), len(errors))
    steps.silence(other.id)
    adopter = shift.id if decides == "the adopter's second look" else Shift().id
    leases.adopt(adopter)
    judge(job, [Miss(call_id=c.id, error=e) for c, e in zip(calls, errors, strict=True)], has_others=False)
    leases.stop(other.id)
    if adopter == shift.id:
        orphans.sweep()
        orphans.sweep()
    else:
        leases.stop(adopter)
        shift.sweep()
    assert end_of(task_id) == end
    assert not Call.objects.filter(task_id=task_id, state__in=["intent", "accepted", "late"]).exists()


def test_a_call_that_brought_nothing_makes_its_sibling_no_known_one(shift, other, key):
    task_id = picture(key, "a fox", n=2)
    (claimed,) = other.claim()
    first, _ = steps.intend(steps.intent(claimed, other.id), 2)
    Call.objects.filter(id=first.id).update(state="done")
    steps.silence(other.id)
    shift.sweep()
    assert end_of(task_id) == "TASK_OUTCOME_UNKNOWN"


def test_an_answer_after_the_takeover_is_kept_as_our_loss(shift, other, key, sandbox):
    task_id = picture(key, "a fox")
    (claimed,) = other.claim()
    calls = steps.intend(steps.intent(claimed, other.id))
    steps.silence(other.id)
    shift.sweep()
    job = loaded(claimed)
    credential_id, connection = connections.to(job.route.channel.id, job.target, total_timeout=PATIENCE)
    underway = make(Purchase(job=job, calls=calls, credential_id=credential_id, connection=connection))
    assert underway is not None
    assert not underway.promise.result()
    underway.anew()
    assert task(task_id).error["type"] == "TASK_OUTCOME_UNKNOWN"
    assert call(task_id).state == "lost"


def test_a_lookup_that_breaks_off_keeps_no_other_task_waiting(shift, other, key, plan, sandbox, monkeypatch):
    (kling,) = (lane for lane in LANES if str(lane) == "kling")
    kling.install(plan, sandbox)
    task_ids = [steps.submitted(key, kling.body("a fox")), picture(key, "a fox")]
    for claimed in (*other.claim(), *other.claim()):
        steps.intend(steps.intent(claimed, other.id, target=loaded(claimed).target))
    monkeypatch.setattr(KlingTasks, "find", lambda *_: {}["data"])
    steps.silence(other.id)
    shift.sweep()
    assert [end_of(task_id) for task_id in task_ids] == ["TASK_OUTCOME_UNKNOWN"] * 2


@pytest.mark.parametrize(
    ("when", "ends"), [("meanwhile", ("TASK_OUTCOME_UNKNOWN", "late")), ("afterwards", ("running", "accepted"))]
)
def test_a_job_found_for_a_worker_that_then_gives_it_up_is_not_bought_again(
    shift, other, orphans, key, plan, sandbox, monkeypatch, when, ends
):
    (kling,) = (lane for lane in LANES if str(lane) == "kling")
    kling.install(plan, sandbox)
    task_id = steps.submitted(key, kling.body("a fox"))
    (claimed,) = other.claim()
    job = loaded(claimed)
    (intended,) = steps.intend(steps.intent(claimed, other.id, target=job.target))
    lost = Miss(call_id=intended.id, error=UpstreamError(ErrorKind.AMBIGUOUS, "lost"))

    def find(*_):
        if when == "meanwhile":
            judge(job, [lost], has_others=False)
        return Accepted(handle={"id": "job-1"}, poll_after=100.0)

    monkeypatch.setattr(KlingTasks, "find", find)
    steps.silence(other.id)
    shift.sweep()
    judge(job, [lost], has_others=False)
    orphans.sweep()
    orphans.sweep()
    assert (end_of(task_id), call(task_id).state) == ends
    assert call(task_id).worker_id == shift.id


def test_what_an_adoption_still_asks_for_is_no_orphan(shift, other, orphans, key, plan, sandbox, monkeypatch):
    (kling,) = (lane for lane in LANES if str(lane) == "kling")
    kling.install(plan, sandbox)
    task_id = steps.submitted(key, kling.body("a fox"))
    (claimed,) = other.claim()
    steps.intend(steps.intent(claimed, other.id, target=loaded(claimed).target))
    steps.silence(other.id)
    asked, answer, deciding = threading.Event(), threading.Event(), WaitedFor()
    monkeypatch.setattr("worker.heal.adoption._deciding", deciding)

    def find(*_):
        if asked.is_set():
            return None
        asked.set()
        assert answer.wait(PATIENCE)
        return Accepted(handle={"id": "job-1"}, poll_after=100.0)

    monkeypatch.setattr(KlingTasks, "find", find)
    adopting = beside(lambda: adoption.adopt(shift.id))
    assert asked.wait(PATIENCE)
    sweeping = beside(lambda: [orphans.sweep() for _ in range(2)])
    wait_until(lambda: deciding.is_waited_for.is_set() or not sweeping.is_alive(), what="the sweep")
    answer.set()
    joined(adopting)
    joined(sweeping)
    assert (task(task_id).status, call(task_id).state) == ("running", "accepted")


def test_a_claim_that_was_committed_unseen_is_found_at_the_second_look(shift, orphans, key):
    task_id = picture(key, "a fox")
    steps.claimed(shift.id)
    orphans.sweep()
    assert task(task_id).status == "running"
    orphans.sweep()
    assert task(task_id).status == "queued"
    assert shift.work(task_id) == "succeeded"


def test_a_lost_answer_of_an_earlier_attempt_does_not_spoil_a_claim_that_was_committed_unseen(
    shift, orphans, key, image_model, bought_again
):
    Route.objects.update(resubmit_ambiguous=True)
    image_model.save()
    bought_again.add("a fox [reset=1]")
    task_id = picture(key, "a fox [reset=1]")
    shift.execute()
    assert (task(task_id).status, call(task_id).state) == ("queued", "unknown")
    hurry()
    steps.claimed(shift.id)
    orphans.sweep()
    orphans.sweep()
    assert task(task_id).status == "queued"
    assert shift.work(task_id) == "succeeded"


def test_an_adoption_that_was_not_decided_is_decided_later(shift, other, orphans, key):
    task_id = picture(key, "a fox")
    (claimed,) = other.claim()
    steps.intended(claimed, other.id)
    steps.silence(other.id)
    leases.adopt(shift.id)
    orphans.sweep()
    orphans.sweep()
    assert task(task_id).error["type"] == "TASK_OUTCOME_UNKNOWN"


def test_what_is_in_hand_or_followed_is_no_orphan(shift, orphans, key):
    in_hand, followed = picture(key, "a fox"), film(key, "a fox runs [held]")
    shift.claim()
    shift.execute()
    for _ in range(3):
        orphans.sweep()
    assert task(in_hand).status == task(followed).status == "running"


def test_a_timed_out_call_that_nobody_answers_for_any_more_is_listed_as_unknown(shift, orphans, key):
    task_id = picture(key, "a fox")
    (claimed,) = steps.claimed(shift.id)
    call_id = steps.intended(claimed, shift.id)
    lifecycle.end([Ending.timed_out(task_id, claimed.attempt, call_id)])
    orphans.sweep()
    assert call(task_id).state == "late"
    orphans.sweep()
    assert (call(task_id).state, call(task_id).outcome) == ("unknown", {"kind": "timeout"})


def test_of_what_is_adopted_at_once_the_oldest_live_jobs_are_polled_first(shift, other, key):
    films = [film(key, f"a fox runs {number} [held]") for number in range(3)]
    shift.execute()
    first, second, third = (call(each).id for each in films)
    for each in (third, second, first):  # the table's own order is another
        Call.objects.filter(pk=each).update(faults=9)
    Call.objects.filter(pk=first).update(state="late")
    steps.silence(shift.id)
    leases.adopt(other.id)
    assert [each.id for each in due_calls.followed(other.id)] == [second, third, first]
