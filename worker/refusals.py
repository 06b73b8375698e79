"""A paid call that brought nothing: the verdict on it goes into the books. All of this may be repeated (`insist`)."""

import logging
import random
from typing import Any

from adapters.base import UpstreamError
from catalog import snapshot
from common import sql
from tasks import calls, lifecycle, queue, route_sets
from tasks.lifecycle import CallEnd, Ending, Failure
from tasks.models import Call
from tasks.queue import Claimed, Return
from worker import verdicts
from worker.jobs import Job
from worker.verdicts import Spoiled, Verdict

logger = logging.getLogger(__name__)


def refused(job: Job, call_id: int, error: UpstreamError) -> None:
    """The provider refused, or its answer was lost: fail, try another route, or wait."""
    task = job.task
    earlier = spoiled_calls(task.id, before=call_id)
    verdict = verdicts.of_submit(error, earlier=earlier, may_buy_again=job.route.resubmit_ambiguous)
    outcome = described(error)
    if verdict.step == "fail":
        fail(task, verdict.failure, CallEnd(id=call_id, state=verdict.call_state, outcome=outcome))
        return
    calls.close(call_id, state=verdict.call_state, outcome=outcome)
    if verdict.step == "again":
        requeue(task, task.open_routes_id, verdict.delay_seconds)
    else:
        leave_route(task, verdict)


def unpaid(task: Claimed, call_id: int, reason: str) -> None:
    """A fault of ours before anything was sent: the task waits and is tried again with the same routes."""
    calls.close(call_id, state="refused", outcome={"kind": "unpaid", "message": reason})
    requeue(task, task.open_routes_id, verdicts.backoff(task.requeues))


def unknown(task: Claimed, call_id: int, reason: str) -> None:
    """Nobody knows whether the provider took it: never bought again, not charged, listed for the operator."""
    outcome = {"kind": "broken", "message": reason}
    fail(task, verdicts.OUTCOME_UNKNOWN, CallEnd(id=call_id, state="unknown", outcome=outcome))


def leave_route(task: Claimed, verdict: Verdict) -> None:
    """Back to the queue without this route; after the last one wait for those that were only busy, or give up."""
    rest = route_sets.without(task.open_routes_id, task.route_id)
    if rest is not None and is_open(rest):
        requeue(task, rest, 0.0, is_failure=False)
        return
    wait = verdicts.of_last_route(spoiled_calls(task.id), rounds=task.requeues, retry_after=verdict.delay_seconds)
    again = route_sets.only(route_sets.submitted(task.id), wait.routes) if wait else None
    if wait is None or again is None:
        logger.warning("no route is left")
        fail(task, verdict.failure)
    else:
        requeue(task, again, wait.delay_seconds)


def is_open(route_set_id: int) -> bool:
    """Whether any route of the set is still enabled."""
    catalog = snapshot.latest()
    return any(catalog.route(row["route"]) is not None for row in route_sets.routes_of(route_set_id))


def hand_back(task: Claimed) -> None:
    """Nothing was bought: the task waits for another worker."""
    requeue(task, task.open_routes_id, 0.0, is_failure=False)


def requeue(task: Claimed, open_routes_id: int, delay_seconds: float, *, is_failure: bool = True) -> None:
    # Up to a fifth longer, so that tasks which were refused together do not come back together.
    delay = delay_seconds * random.uniform(1.0, 1.2)
    back = Return(
        task_id=task.id,
        attempt=task.attempt,
        open_routes_id=open_routes_id,
        delay_seconds=delay,
        is_failure=is_failure,
    )
    queue.requeue([back])


def fail(task: Claimed, failure: Failure, call: CallEnd | None = None) -> None:
    """The task fails; where it has ended or moved on meanwhile, only the call is closed."""
    ending = Ending(
        task_id=task.id, from_status="running", attempt=task.attempt, status="failed", failure=failure, call=call
    )
    if not lifecycle.end([ending]) and call is not None:
        calls.close(call.id, state=call.state, outcome=call.outcome or {})


def spoiled_calls(task_id: str, *, before: int | None = None) -> list[Spoiled]:
    """The task's refused and lost calls, in order; only those before the given call."""
    rows = Call.objects.filter(task_id=task_id, state__in=["refused", "unknown"]).order_by("id")
    if before is not None:
        rows = rows.filter(id__lt=before)
    return [
        Spoiled(route_id=route, kind=(sql.as_document(outcome) or {}).get("kind", ""))
        for route, outcome in rows.values_list("route_id", "outcome")
    ]


def described(error: UpstreamError) -> dict[str, Any]:
    """A refusal as the operator sees it."""
    return {
        "kind": error.kind.value,
        "code": error.code,
        "http_status": error.http_status,
        "message": error.message,
        "request_id": error.request_id,
    }
