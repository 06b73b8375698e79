"""Tasks that nobody works on: those of dead workers, and our own whose claim or adoption was committed unseen.

What had been bought decides: with a handle polling goes on; without an intent the task is queued again; an intent
without a handle ends as TASK_OUTCOME_UNKNOWN, because no adapter here can ask its provider by reference.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from common import sql
from common.logs import bind
from tasks import leases, lifecycle, queue
from tasks.lifecycle import CallEnd, Ending
from tasks.queue import Return
from worker import verdicts

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A running task whose job nobody can ask for; `paid` is the call that may have bought it."""

    task_id: str
    attempt: int
    open_routes_id: int
    paid: int | None


def adopt(worker_id: str) -> int:
    """Take over what dead workers own; returns how many running tasks that were."""
    orphans = leases.adopt(worker_id)
    if orphans:
        logger.warning("adopted %d tasks of dead or stopped workers", len(orphans))
    decide(
        Stray(
            task_id=orphan.task_id,
            attempt=orphan.attempt,
            open_routes_id=orphan.open_routes_id,
            paid=orphan.intents[-1] if orphan.intents else None,
        )
        for orphan in orphans
        if not orphan.accepted
    )
    return len(orphans)


def decide(strays: Iterable[Stray]) -> None:
    """Back to the queue, or a failed end, in one transaction each."""
    found = list(strays)
    for stray in found:
        with bind(task_id=stray.task_id, attempt=stray.attempt):
            logger.warning("nobody works on this task; %s", "it may have been paid" if stray.paid else "not bought")
    if back := [_back(stray) for stray in found if not stray.paid]:
        queue.requeue(back)
    if lost := [_unknown(stray, stray.paid) for stray in found if stray.paid]:
        lifecycle.end(lost)


def _back(stray: Stray) -> Return:
    return Return(task_id=stray.task_id, attempt=stray.attempt, open_routes_id=stray.open_routes_id, is_failure=False)


def _unknown(stray: Stray, paid: int) -> Ending:
    return Ending(
        task_id=stray.task_id,
        from_status="running",
        attempt=stray.attempt,
        status="failed",
        failure=verdicts.OUTCOME_UNKNOWN,
        call=CallEnd(id=paid, state="unknown", outcome={"kind": "crash"}),
    )


WITHOUT_HANDLE = """
SELECT t.id, t.attempt, t.open_routes_id,
    (SELECT max(c.id) FROM tasks_call c WHERE c.task_id = t.id AND c.state <> 'refused')
FROM tasks_task t
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


class OwnStrays:
    """Finds rows of this worker that none of its threads works on. Seen twice in a row, they are no mere moment
    between a commit and its thread."""

    def __init__(self, worker_id: str, in_hand: Callable[[], frozenset[tuple[str, int]]]) -> None:
        self._worker_id = worker_id
        self._in_hand = in_hand
        self._seen: frozenset[object] = frozenset()

    def sweep(self) -> None:
        tasks = [Stray(task_id=i, attempt=n, open_routes_id=r, paid=c) for i, n, r, c in self._rows(WITHOUT_HANDLE)]
        calls = self._rows(LATE_WITHOUT_HANDLE)
        in_hand = self._in_hand()  # read after the rows: what was being worked on then still is, or has changed them
        strays = {stray for stray in tasks if (stray.task_id, stray.attempt) not in in_hand}
        unanswered = {call for call, task_id, attempt in calls if (task_id, attempt) not in in_hand}
        before, self._seen = self._seen, frozenset(strays | unanswered)
        decide(strays & before)
        if lost := unanswered & before:
            packed = sql.pack({"id": call} for call in lost)
            sql.run(UNANSWERED.format(now=sql.now(), rows=sql.rows("id bigint")), [self._worker_id, packed])

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        return sql.fetch(statement, [self._worker_id])
