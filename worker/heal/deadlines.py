"""The lane that keeps promises nobody else would: deadlines, vanished routes, retention."""

import logging
from collections.abc import Iterable
from typing import Literal

from catalog import health
from common import sql
from common.errors import StorageUnavailable
from tasks import failures, lifecycle
from tasks.assets import retention
from tasks.failures import Failure
from tasks.lifecycle import CallEnd, Ending
from tasks.queue import Group
from worker.heal.reopening import Queued, reopen

logger = logging.getLogger(__name__)
BATCH = 500
HANGING_POLL_SECONDS = 5
RETENTION_BATCH = 200

HASTEN = """
UPDATE tasks_call SET next_poll_at = {now} WHERE state = 'accepted' AND next_poll_at > {now}
    AND task_id IN (SELECT id FROM tasks_task WHERE status = 'running' AND deadline_at <= {now})
"""
OVERDUE = """
SELECT t.id, t.status, t.attempt, c.id
FROM tasks_task t LEFT JOIN tasks_call c ON c.task_id = t.id AND c.state IN ('intent', 'accepted')
WHERE t.status IN ('queued', 'running') AND t.deadline_at <= {now}
    AND (c.id IS NULL OR t.deadline_at <= {long_ago} OR (c.state = 'intent' AND NOT EXISTS (
        SELECT 1 FROM tasks_call s WHERE s.task_id = t.id AND s.state = 'accepted')))
ORDER BY t.deadline_at LIMIT %s
"""


def enforce_deadlines() -> int:
    """End overdue tasks; one whose job can be polled is left a few seconds for its last poll. Returns how many it
    ended."""
    now = sql.now()
    sql.run(HASTEN.format(now=now))
    rows = sql.fetch(OVERDUE.format(now=now, long_ago=sql.later(str(-HANGING_POLL_SECONDS))), [BATCH])
    open_calls: dict[Overdue, list[int | None]] = {}
    for task_id, status, attempt, call in rows:
        open_calls.setdefault((task_id, status, attempt), []).append(call)
    endings = [_timeout(*task, calls) for task, calls in open_calls.items()]
    return len(lifecycle.end(endings)) if endings else 0


Overdue = tuple[str, Literal["queued", "running"], int]
"""A task past its deadline: id, status, attempt."""


def _timeout(
    task_id: str, status: Literal["queued", "running"], attempt: int, open_calls: Iterable[int | None]
) -> Ending:
    return Ending(
        task_id=task_id,
        from_status=status,
        attempt=attempt,
        status="timeout",
        failure=failures.TIMED_OUT,
        calls=tuple(
            CallEnd(id=call, state="late", outcome={"kind": "timeout"}) for call in open_calls if call is not None
        ),
    )


def end_routeless(groups: Iterable[Group]) -> None:
    """Queued tasks whose open routes have all vanished: those that had more routes get them back, the others fail."""
    for key, routes in groups:
        sql.run(
            f"UPDATE tasks_task SET open_routes_id = route_set_id WHERE {OF_GROUP} AND route_set_id <> open_routes_id",
            [key, routes],
        )
        _fail_queued(_of_group(key, routes), failures.ROUTE_VANISHED)


def end_unavailable(groups: Iterable[Group]) -> None:
    """Queued tasks whose open routes all lead to disabled channels: those that another route was only too busy for go
    back to that one, the others fail."""
    for key, routes in groups:
        disabled = health.disabled_channels()
        _fail_queued([task for task in _of_group(key, routes) if not reopen(task, disabled)], failures.UNAVAILABLE)


OF_GROUP = "key_id = %s AND open_routes_id = %s AND status = 'queued'"


def _of_group(key: int, routes: int) -> list[Queued]:
    """The oldest queued tasks of a group."""
    statement = f"SELECT id, attempt, requeues, route_set_id FROM tasks_task WHERE {OF_GROUP} ORDER BY id LIMIT %s"
    rows = sql.fetch(statement, [key, routes, BATCH])
    return [Queued(**dict(zip(("id", "attempt", "waits", "submitted"), row, strict=True))) for row in rows]


def _fail_queued(tasks: Iterable[Queued], failure: Failure) -> None:
    endings = [
        Ending(task_id=task.id, from_status="queued", attempt=task.attempt, status="failed", failure=failure)
        for task in tasks
    ]
    if endings:
        lifecycle.end(endings)


def prune() -> None:
    """Delete what retention says, a batch at a time, and what killed processes left half written."""
    try:
        pruned = retention.prune(RETENTION_BATCH)
        files = retention.sweep()
    except StorageUnavailable:
        logger.warning("retention waits: asset storage is unavailable")
        return
    if pruned.assets or pruned.payloads or files:
        logger.info("deleted %d assets, %d payloads, %d temporary files", pruned.assets, pruned.payloads, files)
