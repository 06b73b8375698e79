"""Tasks that nobody works on: those of dead workers, and our own whose claim or adoption was committed unseen.

What had been bought decides: with a handle polling goes on; without an intent the task is queued again; an intent
without a handle ends as TASK_OUTCOME_UNKNOWN, unless the provider finds the job by our reference.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from common import sql
from common.database_retry import AWAY, insist
from common.logs import bind
from tasks import failures, leases, lifecycle, paid_calls, queue
from tasks.leases import Orphan
from tasks.lifecycle import CallEnd, Ending
from tasks.queue import Return
from worker.buy import lookup

logger = logging.getLogger(__name__)
# What an adoption still asks a provider for would look like a stray of its own worker, and be ended under it.
_deciding = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A running task whose job nobody can ask for; `paid` are the calls that may have bought it."""

    task_id: str
    attempt: int
    open_routes_id: int
    paid: tuple[int, ...]


def adopt(worker_id: str) -> int:
    """Take over what dead workers own; returns how many running tasks that were."""
    with _deciding:
        orphans = leases.adopt(worker_id)
        if orphans:
            logger.warning("adopted %d tasks of dead or stopped workers", len(orphans))
        if silent := [call for orphan in orphans if orphan.accepted for call in orphan.intents]:
            insist(paid_calls.give_up, silent)
        decide(worker_id, [_stray(orphan) for orphan in orphans if not orphan.accepted])
        return len(orphans)


def _stray(orphan: Orphan) -> Stray:
    return Stray(
        task_id=orphan.task_id,
        attempt=orphan.attempt,
        open_routes_id=orphan.open_routes_id,
        paid=orphan.intents,
    )


def decide(worker_id: str, strays: Iterable[Stray]) -> None:
    """Back to the queue, on with a job that its provider knows by our reference, or a failed end."""
    found = list(strays)
    for stray in found:
        with bind(task_id=stray.task_id, attempt=stray.attempt):
            logger.warning("nobody works on this task; %s", "it may have been paid" if stray.paid else "not bought")
    if back := [_back(stray) for stray in found if not stray.paid]:
        queue.requeue(back)
    paid = [stray for stray in found if stray.paid]
    findable = lookup.findable([call for stray in paid for call in stray.paid])
    if lost := [stray for stray in paid if findable.isdisjoint(stray.paid)]:
        lifecycle.end([_unknown(stray) for stray in lost])
    for stray in paid:  # last and one by one, since asking takes its time
        if not findable.isdisjoint(stray.paid) and not _is_recovered(worker_id, stray, findable):
            lifecycle.end([_unknown(stray)])


def _is_recovered(worker_id: str, stray: Stray, findable: frozenset[int]) -> bool:
    with bind(task_id=stray.task_id, attempt=stray.attempt):
        recovered = [call for call in stray.paid if call in findable and _recover(call, worker_id)]
    if recovered:
        paid_calls.give_up([call for call in stray.paid if call not in recovered])
    return bool(recovered)


def _recover(call_id: int, worker_id: str) -> bool:
    try:
        return lookup.recover(call_id, worker_id)
    except AWAY:
        raise
    except Exception:  # one that cannot be asked for must not keep the others waiting
        logger.exception("a lookup broke off")
        return False


def _back(stray: Stray) -> Return:
    return Return(task_id=stray.task_id, attempt=stray.attempt, open_routes_id=stray.open_routes_id, is_failure=False)


def _unknown(stray: Stray) -> Ending:
    return Ending(
        task_id=stray.task_id,
        from_status="running",
        attempt=stray.attempt,
        status="failed",
        failure=failures.OUTCOME_UNKNOWN,
        calls=tuple(CallEnd(id=call, state="unknown", outcome={"kind": "crash"}) for call in stray.paid),
    )


WITHOUT_HANDLE = """
SELECT t.id, t.attempt, t.open_routes_id, c.id
FROM tasks_task t LEFT JOIN tasks_call c ON c.task_id = t.id AND c.state = 'intent'
WHERE t.worker_id = %s AND t.status = 'running'
    AND NOT EXISTS (SELECT 1 FROM tasks_call c WHERE c.task_id = t.id AND c.state = 'accepted')
"""
UNANSWERED = """
UPDATE tasks_call SET state = 'unknown', ended_at = {now}
WHERE worker_id = %s AND state = 'late' AND handle IS NULL AND id IN (SELECT r.id FROM {rows})
"""
LATE_WITHOUT_HANDLE = """
SELECT id, task_id, attempt FROM tasks_call WHERE worker_id = %s AND state = 'late' AND handle IS NULL
"""


def _strays(rows: Iterable[tuple[Any, ...]]) -> list[Stray]:
    """One a task, from one row a call."""
    found: dict[str, Stray] = {}
    for task_id, attempt, routes, call in rows:
        paid = () if call is None else (call,)
        before = found.get(task_id)
        found[task_id] = Stray(
            task_id=task_id, attempt=attempt, open_routes_id=routes, paid=(before.paid if before else ()) + paid
        )
    return list(found.values())


class OwnStrays:
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
        tasks = _strays(self._rows(WITHOUT_HANDLE))
        late = self._rows(LATE_WITHOUT_HANDLE)
        in_hand = self._in_hand()  # read after the rows: what was being worked on then still is, or has changed them
        strays = {stray for stray in tasks if (stray.task_id, stray.attempt) not in in_hand}
        unanswered = {call for call, task_id, attempt in late if (task_id, attempt) not in in_hand}
        before, self._seen = self._seen, frozenset(strays | unanswered)
        decide(self._worker_id, strays & before)
        if lost := unanswered & before:
            packed = sql.pack({"id": call} for call in lost)
            sql.run(UNANSWERED.format(now=sql.now(), rows=sql.rows("id bigint")), [self._worker_id, packed])

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return sql.fetch(statement, [self._worker_id])
