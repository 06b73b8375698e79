"""A paid call that brought nothing: the verdict on it goes into the books. All of this may be repeated (`insist`)."""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from adapters.base import ErrorKind, UpstreamError
from catalog import health, snapshot
from common import sql
from common.database_retry import insist
from tasks import failures, lifecycle, paid_calls, queue, route_sets
from tasks.failures import Failure
from tasks.lifecycle import CallEnd, Ending
from tasks.models import Call
from tasks.queue import Claimed, Return
from worker import retry_policy
from worker.buy.jobs import Job
from worker.retry_policy import Spoiled, Verdict

logger = logging.getLogger(__name__)
# Another credential of the same channel may be taken where this one was not.
OF_CREDENTIAL = (ErrorKind.RATE_LIMITED, ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED)
NO_ROUTES: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A paid call that brought nothing: the provider's `error`, or a fault of ours: `unpaid` before anything was sent,
    `broken` so that nobody knows."""

    call_id: int
    credential_id: int | None = None
    error: UpstreamError | None = None
    unpaid: str = ""
    broken: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the provider may have taken it all the same."""
        return bool(self.broken) or (self.error is not None and self.error.maybe_accepted)

    @property
    def is_spent(self) -> bool:
        """Whether it was bought, and brought nothing that can be used."""
        return self.error is not None and self.error.kind is ErrorKind.EMPTY_RESULT

    @property
    def state(self) -> Literal["unknown", "done", "refused"]:
        if self.is_open:
            return "unknown"
        return "done" if self.is_spent else "refused"

    @property
    def outcome(self) -> dict[str, Any]:
        """As the operator sees it."""
        if self.error is not None:
            return described(self.error)
        return {"kind": "broken" if self.broken else "unpaid", "message": self.broken or self.unpaid}


def judge(job: Job, misses: Sequence[Miss], *, has_others: bool) -> None:
    """What the missed calls of one execution mean. Beside others that were accepted each is simply closed; else one
    whose outcome is open, or that was bought, decides for all, because then nothing may be bought again."""
    if has_others:
        for miss in misses:
            insist(one_of_many, job.task, miss)
        return
    decisive = min(misses, key=lambda miss: (not miss.is_open, not miss.is_spent))
    for miss in misses:
        if miss is not decisive:
            insist(paid_calls.close, miss.call_id, state=miss.state, outcome=miss.outcome)
    if decisive.error is not None:
        insist(refused, job, decisive, decisive.error)
    elif decisive.broken:
        insist(unknown, job.task, decisive)
    else:
        insist(unpaid, job.task, decisive)


def one_of_many(task: Claimed, miss: Miss) -> None:
    """The task goes on with the calls that were accepted; where those have failed meanwhile it fails."""
    if not paid_calls.drop(miss.call_id, task.id, state=miss.state, outcome=miss.outcome):
        failure = failures.OUTCOME_UNKNOWN if miss.is_open else failures.NO_USABLE_RESULT
        fail(task, failure, CallEnd(id=miss.call_id, state=miss.state, outcome=miss.outcome))


def refused(job: Job, miss: Miss, error: UpstreamError) -> None:
    """The provider refused, or its answer was lost: fail, try another route, or wait."""
    task = job.task
    earlier = spoiled_calls(task.id, before=task.attempt)
    verdict = retry_policy.of_submit(error, earlier=earlier, may_buy_again=job.route.resubmit_ambiguous)
    if verdict.step == "fail":
        fail(task, verdict.failure, CallEnd(id=miss.call_id, state=verdict.call_state, outcome=miss.outcome))
        return
    paid_calls.close(miss.call_id, state=verdict.call_state, outcome=miss.outcome)
    if verdict.step == "again":
        requeue(task, task.open_routes_id, verdict.delay_seconds)
    elif has_other_credential(job, miss, error):
        requeue(task, task.open_routes_id, 0.0, is_failure=False)
    else:
        leave_route(task, verdict)


def has_other_credential(job: Job, miss: Miss, error: UpstreamError) -> bool:
    """Whether the same route may be taken at once with another credential than the one that was refused."""
    if error.kind not in OF_CREDENTIAL or miss.credential_id is None:
        return False
    return health.has_other_credential(job.route.channel.id, miss.credential_id)


def unpaid(task: Claimed, miss: Miss) -> None:
    """A fault of ours before anything was sent: the task waits and is tried again with the same routes."""
    paid_calls.close(miss.call_id, state="refused", outcome=miss.outcome)
    requeue(task, task.open_routes_id, retry_policy.backoff(task.requeues))


def unknown(task: Claimed, miss: Miss) -> None:
    """Nobody knows whether the provider took it: never bought again, not charged, listed for the operator."""
    fail(task, failures.OUTCOME_UNKNOWN, CallEnd(id=miss.call_id, state="unknown", outcome=miss.outcome))


def leave_route(task: Claimed, verdict: Verdict, *, is_gone: bool = False) -> None:
    """Back to the queue without this route. Where no other can be used now, wait for those that rest and those that
    were only busy, whichever is ready first; without any give up. One that is gone is not waited for."""
    rest = route_sets.without(task.open_routes_id, task.route_id)
    usable, resting = still_open(rest) if rest is not None else (NO_ROUTES, NO_ROUTES)
    if rest is not None and usable:
        requeue(task, rest, 0.0, is_failure=False)
        return
    # Beside a route that rests, how long this one asked for is left to the health of its channel.
    asked = 0.0 if resting else verdict.delay_seconds
    spoiled = [call for call in spoiled_calls(task.id) if not (is_gone and call.route_id == task.route_id)]
    wait = retry_policy.of_last_route(spoiled, rounds=task.requeues, retry_after=asked)
    again = route_sets.only(route_sets.submitted(task.id), resting | (wait.routes if wait else NO_ROUTES))
    if again is None:
        logger.warning("no route is left")
        fail(task, verdict.failure)
    else:
        requeue(task, again, wait.delay_seconds if wait else 0.0, is_failure=wait is not None)


def still_open(route_set_id: int) -> tuple[frozenset[int], frozenset[int]]:
    """The enabled routes of the set whose channels can be used now, and those whose channels rest."""
    catalog, (disabled, resting) = snapshot.latest(), health.unusable()
    found = [route for row in route_sets.routes_of(route_set_id) if (route := catalog.route(row["route"]))]
    waiting = frozenset(route.id for route in found if route.channel.id in resting)
    return frozenset(route.id for route in found if route.channel.id not in disabled) - waiting, waiting


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


def fail(task: Claimed, failure: Failure, *ended: CallEnd) -> None:
    """The task fails; where it has ended or moved on meanwhile, only the calls are closed."""
    ending = Ending(
        task_id=task.id, from_status="running", attempt=task.attempt, status="failed", failure=failure, calls=ended
    )
    if not lifecycle.end([ending]):
        for call in ended:
            paid_calls.close(call.id, state=call.state, outcome=call.outcome or {})


def spoiled_calls(task_id: str, *, before: int | None = None) -> list[Spoiled]:
    """The task's attempts that were refused or lost, in order, each by the call that decided; only those before the
    given attempt."""
    rows = Call.objects.filter(task_id=task_id, state__in=["refused", "unknown"]).order_by("attempt", "-state", "id")
    if before is not None:
        rows = rows.filter(attempt__lt=before)
    decisive: dict[int, Spoiled] = {}
    for attempt, route, outcome in rows.values_list("attempt", "route_id", "outcome"):
        kind = (sql.as_document(outcome) or {}).get("kind", "")
        decisive.setdefault(attempt, Spoiled(route_id=route, kind=kind))
    return list(decisive.values())


def described(error: UpstreamError) -> dict[str, Any]:
    """A refusal as the operator sees it."""
    return {
        "kind": error.kind.value,
        "code": error.code,
        "http_status": error.http_status,
        "message": error.message,
        "request_id": error.request_id,
    }
