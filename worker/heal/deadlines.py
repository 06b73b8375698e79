"""The lane that ends what cannot go on: tasks past their deadline, tasks whose routes lead nowhere, and old files."""

import logging
import threading
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from django.conf import settings

from common import sql
from common.errors import StorageUnavailable
from tasks import due_calls, leases, lifecycle, polls
from tasks.assets import retention, stored_inputs
from tasks.assets.retention import Pruned
from tasks.claims.queue import Stranded
from tasks.lifecycle import Ending

logger = logging.getLogger(__name__)
BATCH = 500
HANGING_POLL_SECONDS = 12 + due_calls.LOOK_SECONDS  # until its worker sees that it is due, and what it may take
HANGING_COPY_SECONDS = 60

OVERDUE = """
SELECT t.id, t.status, t.attempt, c.id AS call_id, {has_finished} AS has_finished
FROM tasks_task t LEFT JOIN tasks_call c ON c.task_id = t.id AND c.state IN ('intent', 'accepted')
WHERE t.finished_at IS NULL AND t.deadline_at <= {now}
    AND CASE WHEN {has_finished} THEN t.deadline_at <= {copied_by} ELSE
        c.id IS NULL OR t.deadline_at <= {given_up} OR (
            (t.deadline_at <= {adopted} OR (t.deadline_at <= {long_ago} AND c.next_poll_at <= {long_ago}))
            AND NOT EXISTS (SELECT 1 FROM tasks_worker w WHERE w.id = c.worker_id AND {is_dead}))
        OR (c.state = 'intent' AND NOT EXISTS (
            SELECT 1 FROM tasks_call s WHERE s.task_id = t.id AND s.state = 'accepted')) END
ORDER BY t.deadline_at, t.id LIMIT %s
"""


def seconds_to_next() -> float | None:
    """Until a task is past its deadline: 0 where one is, None where none is queued or running."""
    first = "SELECT min(deadline_at) AS deadline_at FROM tasks_task WHERE finished_at IS NULL"
    return sql.seconds_left(f"SELECT {sql.seconds_between(sql.now(), 'deadline_at')} FROM ({first}) AS next")


def enforce_deadlines() -> int:
    """End tasks whose time is over. One whose job can be polled is left a few seconds for its last poll, by whoever
    adopts it where its worker is dead. One whose provider has finished is left as long as its result may be copied, and
    a minute. Returns how many it ended."""
    polls.hasten_overdue()
    statement = OVERDUE.format(
        now=sql.now(),
        long_ago=sql.later(str(-HANGING_POLL_SECONDS)),
        is_dead=leases.is_dead(),
        adopted=sql.later(str(-2 * settings.WORKER_LEASE - HANGING_POLL_SECONDS)),
        given_up=sql.later(str(-due_calls.AFTER_DEADLINE_SECONDS)),
        has_finished=due_calls.HAS_FINISHED,
        copied_by=sql.later(str(-due_calls.AFTER_DEADLINE_SECONDS - HANGING_COPY_SECONDS)),
    )
    endings = [_ending(list(rows)) for _, rows in groupby(sql.records(statement, [BATCH]), key=lambda row: row.id)]
    return len(lifecycle.end_each(endings)) if endings else 0


def _ending(rows: Sequence[Any]) -> Ending:
    """Of one task, from a row for each open call, or one row without."""
    task, calls = rows[0], [row.call_id for row in rows if row.call_id]
    if task.has_finished:
        return Ending.uncopied(task.id, task.attempt, *calls)
    return Ending.timed_out(task.id, task.attempt, *calls, from_status=task.status)


def end_stranded(groups: Iterable[Stranded]) -> None:
    """Fail the queued tasks of these groups, oldest first; what is left of a large group is reported again."""
    for group in groups:
        tasks = sql.records(
            "SELECT id, attempt FROM tasks_task WHERE key_id = %s AND open_routes_id = %s AND status = 'queued' "
            "ORDER BY id LIMIT %s",
            [group.key_id, group.open_routes_id, BATCH],
        )
        if tasks:
            lifecycle.end_each([Ending.failed(t.id, t.attempt, group.failure, from_status="queued") for t in tasks])


def discard_inputs(stopping: threading.Event) -> None:
    """Delete the stored inputs of tasks that ended without a charge, where whoever ended them did not, until nothing is
    due or the worker stops."""
    count = 0
    try:
        for batch in stored_inputs.batches():
            count += batch
            if stopping.is_set():
                break
    except StorageUnavailable as fault:
        logger.warning("stored inputs could not be deleted: %s", fault)
    if count:
        logger.info("deleted the stored inputs of %d tasks", count)


def prune(stopping: threading.Event) -> None:
    """Delete what killed processes left half written, and what retention says, until nothing is due or the worker
    stops."""
    files, pruned = 0, Pruned()
    try:
        files = retention.sweep()
        for batch in retention.batches():
            pruned += batch
            if stopping.is_set():
                break
    except StorageUnavailable as fault:
        logger.warning("retention could not delete all that is due: %s", fault)
    if pruned.assets or pruned.payloads or files:
        logger.info("deleted %d assets, %d payloads, %d temporary files", pruned.assets, pruned.payloads, files)
