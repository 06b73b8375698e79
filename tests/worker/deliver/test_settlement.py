"""However the calls of one task end: one end, one bill for what was delivered, and nothing bought again by chance."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.base import Done, ErrorKind, UpstreamError
from tasks import lifecycle, paid_calls
from tasks.due_calls import DueCall
from tasks.models import Call, TaskEvent
from tests.tasks import steps
from tests.worker.driving import assets, hurry, loaded, picture, task
from worker.buy.failed_calls import Miss, judge
from worker.deliver import copies, delivery
from worker.deliver.copies import Copied
from worker.follow import fan_in, poll_results
from worker.threads import BatchedStep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("image_model")]

MICROS = 40_000
TAKEN = ("delivered", "failed")
SURELY_NOT = ("rate_limited", "content_policy", "auth")
OURS = ("broken", "unstored")
MISSED = (*SURELY_NOT, "ambiguous", "empty_result", *OURS)
OUTCOMES = st.lists(st.sampled_from(TAKEN + MISSED), min_size=2, max_size=4)


@pytest.fixture
def worker(db: None, monkeypatch) -> str:
    """Its groups do their work on this thread, which has a transaction open."""
    monkeypatch.setattr(BatchedStep, "_start", lambda step, batches: batches())
    monkeypatch.setattr(delivery, "endings", BatchedStep("endings", delivery.end_together))
    return steps.worker()


def missed(call_id: int, outcome: str) -> Miss:
    if outcome in OURS:
        return Miss(call_id=call_id, **{outcome: "Away."})
    return Miss(call_id=call_id, error=UpstreamError(ErrorKind(outcome), "No."))


def accept(call_id: int, outcome: str) -> None:
    """A job that will fail, or files that wait for their siblings."""
    if outcome == "delivered":
        paid_calls.keep(call_id, copies.of_files(Done(outputs=()), (steps.asset(call_id),)))
    else:
        paid_calls.accept(call_id, {"id": "job"}, poll_after=0.0)


def poll(worker: str, call_ids: Iterable[int]) -> None:
    """One poll of each, as far as it still goes on."""
    for call_id in call_ids:
        hurry()
        for due in steps.due(worker):
            if due.id == call_id:
                settle(due)


def settle(due: DueCall) -> None:
    failed = UpstreamError(ErrorKind.PROVIDER_FAILED, "No.")
    answer = copies.read(due.id, due.result).done if due.result else failed
    poll_results.settle([(due, answer)])
    if isinstance(answer, Done) and (made := fan_in.ready(due, answer)):
        stored = Copied(by_call={result.call_id: result.stored for result in made})
        assert delivery.finish(delivery.terms_of_call(due), made, stored, is_last=True)


def bought(worker: str, key, outcomes: Sequence[str], early: Sequence[int]) -> str:
    """The id of a task whose calls end like that; `early` are polled before the last has been answered."""
    task_id = picture(key, "a fox", n=len(outcomes))
    (claimed,) = steps.claimed(worker)
    call_ids = [call.id for call in steps.intend(steps.intent(claimed, worker), len(outcomes))]
    ends = list(zip(call_ids, outcomes, strict=True))
    for call_id, outcome in ends:
        if outcome in TAKEN:
            accept(call_id, outcome)
    poll(worker, [call_ids[n % len(call_ids)] for n in early])
    if misses := [missed(*end) for end in ends if end[1] in MISSED]:
        judge(loaded(claimed), misses, has_others=len(misses) < len(ends))
    for _ in call_ids:
        poll(worker, call_ids)
    return task_id


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(outcomes=OUTCOMES, early=st.lists(st.integers(0, 3), max_size=3))
def test_any_outcomes_are_one_end_and_one_bill(worker, key, outcomes, early):
    task_id = bought(worker, key, outcomes, early)
    row, count = task(task_id), outcomes.count("delivered")
    if count:
        assert (row.status, row.actual_micros, len(assets(task_id))) == ("succeeded", count * MICROS, count)
    elif not set(outcomes) <= set(SURELY_NOT):
        assert row.status == "failed"
    assert not Call.objects.filter(task_id=task_id, state__in=["intent", "accepted", "late"]).exists()
    if row.status == "queued":
        assert lifecycle.end([steps.cancellation_of(task_id, row.attempt)])
    assert TaskEvent.objects.filter(task_id=task_id, status__in=["succeeded", "failed", "canceled"]).count() == 1
    assert steps.breaches() == []
