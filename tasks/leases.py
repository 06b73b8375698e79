"""Who owns a running task: a worker's heartbeat is the lease of all it owns, by the database's clock.

What a dead or stopped worker owned is adopted: attempt + 1, so that the old worker, should it wake up, writes nothing.
"""

import os
import secrets
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db import transaction

from common import sql
from common.concurrency import wakeups
from tasks import polls
from tasks.locks import lock_tasks, serialise_claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """A running task that nobody works on, and what was bought for it: calls in state intent or accepted, by id.
    `spent` has the states of the others since its claim that may have been bought: their worker learned what became of
    them, but could not end the task any more."""

    task_id: str
    attempt: int
    open_routes_id: int
    intents: tuple[int, ...]
    accepted: tuple[int, ...]
    spent: frozenset[str] = frozenset()


def register(lanes: Iterable[str]) -> str:
    """A row for this process; returns the worker's id."""
    worker_id = secrets.token_hex(16)
    sql.run(
        "INSERT INTO tasks_worker (id, host, pid, lanes, started_at, heartbeat_at) "
        f"VALUES (%s, %s, %s, %s, {sql.now()}, {sql.now()})",
        [worker_id, socket.gethostname()[:255], os.getpid(), ",".join(lanes)],
    )
    return worker_id


def heartbeat(worker_id: str) -> bool:
    """Renew the lease; False where somebody has declared this worker stopped."""
    statement = f"UPDATE tasks_worker SET heartbeat_at = {sql.now()} WHERE id = %s AND stopped_at IS NULL"
    return bool(sql.run(statement, [worker_id]))


def alive() -> int:
    """How many workers have a heartbeat within their lease."""
    (row,) = sql.records(f"SELECT count(*) AS n FROM tasks_worker w WHERE NOT {is_dead()}")
    return int(row.n)


def is_dead() -> str:
    """The condition that others may adopt what the worker `w` owns."""
    return f"(w.stopped_at IS NOT NULL OR w.heartbeat_at < {sql.later(str(-settings.WORKER_LEASE))})"


def stop(worker_id: str) -> None:
    """What this worker still owns is free to adopt at once."""
    sql.run(f"UPDATE tasks_worker SET stopped_at = {sql.now()} WHERE id = %s AND stopped_at IS NULL", [worker_id])
    wakeups.tell("stopped")


def dead_workers(but: str) -> list[str]:
    """Workers that stopped or fell silent but still own something."""
    return sql.column(
        f"SELECT w.id FROM tasks_worker w WHERE w.id <> %s AND {is_dead()} AND ("
        "EXISTS (SELECT 1 FROM tasks_task t WHERE t.worker_id = w.id AND t.status = 'running') OR "
        "EXISTS (SELECT 1 FROM tasks_call c WHERE c.worker_id = w.id AND c.state IN ('accepted', 'late')))",
        [but],
    )


def adopt(worker_id: str) -> list[Orphan]:
    """Take over what dead workers own. Accepted calls are simply polled on; the rest is for the caller to decide."""
    if not dead_workers(worker_id):
        return []
    with transaction.atomic():
        serialise_claims()
        dead = dead_workers(worker_id)
        owned = f"status = 'running' AND worker_id {sql.among('text')}"
        lock_tasks(sql.column(f"SELECT id FROM tasks_task WHERE {owned}", [sql.ids(dead)]))
        tasks = sql.column(
            f"UPDATE tasks_task SET worker_id = %s, attempt = attempt + 1 WHERE {owned} RETURNING id",
            [worker_id, sql.ids(dead)],
        )
        polls.adopt(worker_id, dead)
        return _orphans(f"t.id {sql.among('text')}", sql.ids(tasks))


def unpolled(worker_id: str) -> list[Orphan]:
    """The running tasks of this worker that have no job to poll: orphans, where no thread of it works on them."""
    is_polled = "EXISTS (SELECT 1 FROM tasks_call p WHERE p.task_id = t.id AND p.state = 'accepted')"
    return _orphans(f"t.worker_id = %s AND t.status = 'running' AND NOT {is_polled}", worker_id)


def unanswered(worker_id: str) -> list[Any]:
    """The calls of this worker that no answer came for before their tasks ended: `id`, `task_id` and `attempt`."""
    return sql.records(
        "SELECT id, task_id, attempt FROM tasks_call "
        "WHERE worker_id = %s AND state = 'late' AND COALESCE(handle, result) IS NULL",
        [worker_id],
    )


# An adoption raises the attempt, too, but it is no transition: the last one to running is the claim.
BOUGHT_SINCE_THE_CLAIM = """
c.state IN ('intent', 'accepted') OR (c.state <> 'refused' AND c.attempt >=
    (SELECT max(e.attempt) FROM tasks_taskevent e WHERE e.task_id = t.id AND e.status = 'running'))
"""


def _orphans(condition: str, parameter: str) -> list[Orphan]:
    rows = sql.records(
        "SELECT t.id AS task_id, t.attempt, t.open_routes_id, c.id AS call_id, c.state FROM tasks_task t "
        f"LEFT JOIN tasks_call c ON c.task_id = t.id AND ({BOUGHT_SINCE_THE_CLAIM}) "
        f"WHERE {condition} ORDER BY t.id, c.id",
        [parameter],
    )
    tasks = groupby(rows, key=lambda row: (row.task_id, row.attempt, row.open_routes_id))
    return [_orphan(*task, [call for call in calls if call.state]) for task, calls in tasks]


def _orphan(task_id: str, attempt: int, open_routes_id: int, calls: Sequence[Any]) -> Orphan:
    return Orphan(
        task_id=task_id,
        attempt=attempt,
        open_routes_id=open_routes_id,
        intents=tuple(call.call_id for call in calls if call.state == "intent"),
        accepted=tuple(call.call_id for call in calls if call.state == "accepted"),
        spent=frozenset(call.state for call in calls) - {"intent", "accepted"},
    )
