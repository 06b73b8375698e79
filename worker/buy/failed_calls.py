"""A paid call that brought nothing: it is closed, and its task goes on, waits or fails, as `tasks/failover.py` says.

All of this may be repeated (`insist`).
"""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from adapters.base import ErrorKind, UpstreamError
from common import documents, redaction
from common.database.database_retry import insist
from tasks import failover, failures, lifecycle, paid_calls, route_sets
from tasks.claims import queue, queue_state
from tasks.claims.queue import Return
from tasks.claims.starting import Claimed
from tasks.failover import BROKEN, GONE, UNPAID, UNSTORED, FailedCall
from tasks.failures import Failure
from tasks.lifecycle import Ending
from tasks.models import Call
from tasks.paid_calls import CallEnd
from worker.buy.jobs import Job

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A paid call that brought nothing: the provider's `error`, or a fault of ours: `unpaid` before anything was sent,
    `broken` so that nobody knows, `unstored` with the result in hand."""

    call_id: int
    credential_id: int | None = None
    error: UpstreamError | None = None
    unpaid: str = ""
    broken: str = ""
    unstored: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the provider may have taken it all the same."""
        return bool(self.broken) or (self.error is not None and self.error.maybe_accepted)

    @property
    def is_spent(self) -> bool:
        """Whether it was bought, and brought nothing that can be used."""
        return bool(self.unstored) or (self.error is not None and self.error.kind is ErrorKind.EMPTY_RESULT)

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
        ours = {UNPAID: self.unpaid, BROKEN: self.broken, UNSTORED: self.unstored}
        return next({"kind": kind, "message": message} for kind, message in ours.items() if message)

    @property
    def failure(self) -> Failure:
        """Of its task, where it was the last of several calls."""
        if self.is_open:
            return failures.OUTCOME_UNKNOWN
        return failures.STORAGE_UNAVAILABLE if self.unstored else failures.NO_USABLE_RESULT

    @property
    def end(self) -> CallEnd:
        return CallEnd(id=self.call_id, state=self.state, outcome=self.outcome)


def judge(job: Job, misses: Sequence[Miss], *, has_others: bool) -> None:
    """What the missed calls of one execution mean. Beside others that were accepted each is simply closed; else one
    whose outcome is open, or that was bought, decides for all, because then nothing may be bought again; a result that
    was there before one that never was."""
    if has_others:
        for miss in misses:
            insist(one_of_many, job.task, miss)
        return
    decisive = min(misses, key=lambda miss: (not miss.is_open, not miss.unstored, not miss.is_spent))
    insist(paid_calls.close, *(miss.end for miss in misses if miss is not decisive))
    failed = FailedCall(
        route_id=job.route.id,
        kind=decisive.outcome["kind"],
        credential_id=decisive.credential_id,
    )
    insist(go_on, job.task, failed, decisive.end, may_buy_again=job.route.resubmit_ambiguous)


def one_of_many(task: Claimed, miss: Miss) -> None:
    """The task goes on with the calls that were accepted; where those have failed meanwhile it fails."""
    if not paid_calls.drop(miss.end, task.id):
        fail(task, miss.failure, miss.end)


def leave_route(task: Claimed) -> None:
    """The route that the task was claimed for cannot run it any more; nothing was sent."""
    go_on(task, FailedCall(route_id=task.route_id, kind=GONE))


def go_on(task: Claimed, failed: FailedCall, *ended: CallEnd, may_buy_again: bool = False) -> None:
    """Back to the queue with the routes that are left, or the end."""
    step = failover.lead(
        queue_state.ways_now(task.open_routes_id, task.account_id),
        [*earlier(task), failed],
        waits=task.requeues,
        may_buy_again=may_buy_again,
    )
    if step.failure:
        logger.info("the task fails: %s", step.failure.message)
        fail(task, step.failure, *ended)
        return
    paid_calls.close(*ended)
    requeue(task, route_sets.identify(frozenset(step.routes)), step.wait_seconds)


def earlier(task: Claimed) -> list[FailedCall]:
    """The attempts before this one that were refused or lost, in order, each by the call that decided."""
    rows = Call.objects.filter(task_id=task.id, attempt__lt=task.attempt, state__in=["refused", "unknown"])
    found: dict[int, FailedCall] = {}
    for call in rows.order_by("attempt", "-state", "id").only("attempt", "route_id", "credential_id", "outcome"):
        kind = documents.shown(call.outcome).get("kind", "")
        failed = FailedCall(route_id=call.route_id, kind=kind, credential_id=call.credential_id)
        found.setdefault(call.attempt, failed)
    return list(found.values())


def hand_back(task: Claimed, *, wait_seconds: float = 0.0) -> None:
    """Nothing was bought: the task waits for another worker."""
    requeue(task, task.open_routes_id, wait_seconds)


def requeue(task: Claimed, open_routes_id: int, wait_seconds: float) -> None:
    back = Return(
        task_id=task.id,
        attempt=task.attempt,
        open_routes_id=open_routes_id,
        # Up to a fifth longer, so that tasks which were refused together do not come back together.
        delay_seconds=wait_seconds * random.uniform(1.0, 1.2),
        is_failure=wait_seconds > 0,
    )
    queue.requeue([back])


def fail(task: Claimed, failure: Failure, *ended: CallEnd) -> None:
    """The task fails; where it has ended or moved on meanwhile, only the calls are closed. Whoever it moved on to sees
    by those that it must not be bought again."""
    if not lifecycle.end([Ending.failed(task.id, task.attempt, failure, *ended)]):
        paid_calls.close(*ended)


def described(error: UpstreamError) -> dict[str, Any]:
    """A refusal as the operator sees it."""
    return {
        "kind": error.kind.value,
        "code": redaction.clean(error.code),
        "http_status": error.http_status,
        "message": error.message,
        "request_id": redaction.clean(error.request_id),
    }
