"""Tasks that nobody works on: those of dead workers, and our own whose claim or adoption was committed unseen.

What was bought since the claim decides. With an answer, polling goes on. Where nothing can have been bought, the task
is queued again. An intent without an answer ends as TASK_OUTCOME_UNKNOWN, unless the provider finds the job by our
reference. So does a task whose former worker learned too late that its call was lost, and could only close that.
"""

import logging
import threading
from collections.abc import Callable, Iterable

from common import swallowed
from common.database.database_retry import AWAY, insist
from common.logs import bind
from tasks import failures, leases, lifecycle, paid_calls
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.leases import Orphan
from tasks.lifecycle import Ending
from tasks.paid_calls import CallEnd
from worker.buy import lookup

logger = logging.getLogger(__name__)
# What an adoption still asks a provider for would look like an orphan of its own worker, and be ended under it.
_deciding = threading.Lock()


def adopt(worker_id: str) -> int:
    """Take over what dead workers own; returns how many running tasks that were."""
    with _deciding:
        orphans = leases.adopt(worker_id)
        if orphans:
            logger.warning("adopted %d tasks of dead or stopped workers", len(orphans))
        if silent := [call for orphan in orphans if orphan.accepted for call in orphan.intents]:
            insist(paid_calls.give_up, silent)
        decide(worker_id, [orphan for orphan in orphans if not orphan.accepted])
        return len(orphans)


def decide(worker_id: str, orphans: Iterable[Orphan]) -> None:
    """For those without a job to poll: back to the queue, on with a job that its provider knows by our reference, or a
    failed end."""
    found = list(orphans)
    for orphan in found:
        with bind(task_id=orphan.task_id, attempt=orphan.attempt):
            logger.warning(
                "nobody works on this task; %s", "it may have been paid" if _is_paid(orphan) else "not bought"
            )
    if back := [_back(orphan) for orphan in found if not _is_paid(orphan)]:
        queue.requeue(back)
    paid = [orphan for orphan in found if _is_paid(orphan)]
    findable = lookup.findable([call for orphan in paid for call in orphan.intents])
    if lost := [orphan for orphan in paid if findable.isdisjoint(orphan.intents)]:
        lifecycle.end_each([_lost(orphan) for orphan in lost])
    for orphan in paid:  # last and one by one, since asking takes its time
        if not findable.isdisjoint(orphan.intents) and not _is_recovered(worker_id, orphan, findable):
            lifecycle.end_each([_lost(orphan)])


def _is_paid(orphan: Orphan) -> bool:
    return bool(orphan.intents or orphan.spent)


def _is_recovered(worker_id: str, orphan: Orphan, findable: frozenset[int]) -> bool:
    with bind(task_id=orphan.task_id, attempt=orphan.attempt):
        recovered = [call for call in orphan.intents if call in findable and _recover(call, worker_id)]
    if recovered:
        paid_calls.give_up([call for call in orphan.intents if call not in recovered])
    return bool(recovered)


def _recover(call_id: int, worker_id: str) -> bool:
    try:
        return lookup.recover(call_id, worker_id)
    except AWAY:
        raise
    except Exception:  # one that cannot be asked for must not keep the others waiting
        swallowed.note("worker.heal.lookup")
        logger.error("the lookup of call %d broke off", call_id)
        return False


def _back(orphan: Orphan) -> Return:
    return Return(
        task_id=orphan.task_id, attempt=orphan.attempt, open_routes_id=orphan.open_routes_id, is_failure=False
    )


def _lost(orphan: Orphan) -> Ending:
    ends = [CallEnd(id=call, state="unknown", outcome={"kind": "crash"}) for call in orphan.intents]
    is_known = not ends and orphan.spent == {"done"}
    failure = failures.NO_USABLE_RESULT if is_known else failures.OUTCOME_UNKNOWN
    return Ending.failed(orphan.task_id, orphan.attempt, failure, *ends)


class OwnOrphans:
    """Finds rows of this worker that none of its threads works on. Seen twice in a row, they are no mere moment
    between a commit and its thread."""

    def __init__(self, worker_id: str, in_hand: Callable[[], frozenset[tuple[str, int]]]) -> None:
        self._worker_id = worker_id
        self._in_hand = in_hand
        self._seen: frozenset[object] = frozenset()

    def sweep(self) -> None:
        with _deciding:
            self._sweep()

    def _sweep(self) -> None:
        tasks = leases.unpolled(self._worker_id)
        late = leases.unanswered(self._worker_id)
        in_hand = self._in_hand()  # read after the rows: what was being worked on then still is, or has changed them
        orphans = {task for task in tasks if (task.task_id, task.attempt) not in in_hand}
        unanswered = {call.id for call in late if (call.task_id, call.attempt) not in in_hand}
        before, self._seen = self._seen, frozenset(orphans | unanswered)
        decide(self._worker_id, orphans & before)
        if lost := unanswered & before:
            paid_calls.give_up(lost)
