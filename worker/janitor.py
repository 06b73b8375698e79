"""The lane that keeps promises nobody else would: deadlines, vanished routes, retention."""

import logging

from common import sql
from common.errors import StorageUnavailable
from tasks import lifecycle, retention
from tasks.lifecycle import CallEnd, Ending
from worker import verdicts

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
    AND (c.id IS NULL OR c.state = 'intent' OR t.deadline_at <= {long_ago})
ORDER BY t.deadline_at LIMIT %s
"""


def enforce_deadlines() -> int:
    """End overdue tasks; one whose job can be polled is left a few seconds for its last poll. Returns how many it
    ended."""
    now = sql.now()
    sql.run(HASTEN.format(now=now))
    rows = sql.fetch(OVERDUE.format(now=now, long_ago=sql.later(str(-HANGING_POLL_SECONDS))), [BATCH])
    endings = {
        task_id: Ending(
            task_id=task_id,
            from_status=status,
            attempt=attempt,
            status="timeout",
            failure=verdicts.TIMED_OUT,
            call=CallEnd(id=call, state="late", outcome={"kind": "timeout"}) if call is not None else None,
        )
        for task_id, status, attempt, call in rows
    }
    return len(lifecycle.end(list(endings.values()))) if endings else 0


def end_routeless(groups: tuple[tuple[int, int], ...]) -> None:
    """Queued tasks whose open routes have all vanished: those that had more routes get them back, the others fail."""
    for key, routes in groups:
        where = "key_id = %s AND open_routes_id = %s AND status = 'queued'"
        sql.run(
            f"UPDATE tasks_task SET open_routes_id = route_set_id WHERE {where} AND route_set_id <> open_routes_id",
            [key, routes],
        )
        rows = sql.fetch(f"SELECT id, attempt FROM tasks_task WHERE {where} ORDER BY id LIMIT %s", [key, routes, BATCH])
        endings = [
            Ending(
                task_id=task_id,
                from_status="queued",
                attempt=attempt,
                status="failed",
                failure=verdicts.ROUTE_VANISHED,
            )
            for task_id, attempt in rows
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
