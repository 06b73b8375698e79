"""Who owns a running task: a worker's heartbeat is the lease of all it owns, by the database's clock.

What a dead or stopped worker owned is adopted: attempt + 1, so that the old worker, should it wake up, writes nothing.
"""

import os
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from common import sql
from tasks.locks import lock_tasks, serialise_claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """An adopted task and what its former worker had bought: calls in state intent or accepted, by id."""

    task_id: str
    attempt: int
    open_routes_id: int
    route_id: int | None
    requeues: int
    intents: tuple[int, ...]
    accepted: tuple[int, ...]


def register(lanes: Iterable[str]) -> str:
    """A row for this process; returns the worker's id."""
    worker_id = secrets.token_hex(16)
    sql.run(
        "INSERT INTO tasks_worker (id, host, pid, lanes, started_at, heartbeat_at) "
        f"VALUES (%s, %s, %s, %s, {sql.now()}, {sql.now()})",
        [worker_id, socket.gethostname()[:255], os.getpid(), ",".join(lanes)],
    )
    return worker_id


def heartbeat(worker_id: str) -> None:
    sql.run(f"UPDATE tasks_worker SET heartbeat_at = {sql.now()} WHERE id = %s AND stopped_at IS NULL", [worker_id])


def alive() -> int:
    """How many workers have a heartbeat within their lease."""
    lease = sql.later(str(-settings.WORKER_LEASE))
    rows = sql.fetch(f"SELECT count(*) FROM tasks_worker WHERE stopped_at IS NULL AND heartbeat_at > {lease}")
    return int(rows[0][0])


def stop(worker_id: str) -> None:
    """What this worker still owns is free to adopt at once."""
    sql.run(f"UPDATE tasks_worker SET stopped_at = {sql.now()} WHERE id = %s AND stopped_at IS NULL", [worker_id])


def dead_workers(but: str) -> list[str]:
    """Workers that stopped or fell silent but still own something."""
    rows = sql.fetch(
        f"SELECT w.id FROM tasks_worker w WHERE w.id <> %s AND (w.stopped_at IS NOT NULL OR w.heartbeat_at < "
        f"{sql.later(str(-settings.WORKER_LEASE))}) AND ("
        "EXISTS (SELECT 1 FROM tasks_task t WHERE t.worker_id = w.id AND t.status = 'running') OR "
        "EXISTS (SELECT 1 FROM tasks_call c WHERE c.worker_id = w.id AND c.state IN ('accepted', 'late')))",
        [but],
    )
    return [row[0] for row in rows]


def adopt(worker_id: str) -> list[Orphan]:
    """Take over what dead workers own. Accepted calls are simply polled on; the rest is for the caller to decide."""
    if not dead_workers(worker_id):
        return []
    with transaction.atomic():
        serialise_claims()
        dead = sql.pack({"id": found} for found in dead_workers(worker_id))
        of_dead = f"worker_id IN (SELECT r.id FROM {sql.rows('id text')})"
        running = sql.fetch(f"SELECT id FROM tasks_task WHERE status = 'running' AND {of_dead}", [dead])
        lock_tasks([row[0] for row in running])
        tasks = sql.fetch(
            f"UPDATE tasks_task SET worker_id = %s, attempt = attempt + 1 WHERE status = 'running' AND {of_dead} "
            "RETURNING id, attempt, open_routes_id, route_id, requeues",
            [worker_id, dead],
        )
        sql.run(
            f"UPDATE tasks_call SET worker_id = %s WHERE state IN ('accepted', 'late') AND {of_dead}",
            [worker_id, dead],
        )
        calls = sql.fetch(
            "SELECT task_id, id, state FROM tasks_call WHERE state IN ('intent', 'accepted') "
            f"AND task_id IN (SELECT r.id FROM {sql.rows('id text')}) ORDER BY id",
            [sql.pack({"id": row[0]} for row in tasks)],
        )
    found: dict[tuple[str, str], list[int]] = {}
    for task_id, call, state in calls:
        found.setdefault((task_id, state), []).append(call)
    return [
        Orphan(
            task_id=task_id,
            attempt=attempt,
            open_routes_id=open_routes,
            route_id=route,
            requeues=requeues,
            intents=tuple(found.get((task_id, "intent"), ())),
            accepted=tuple(found.get((task_id, "accepted"), ())),
        )
        for task_id, attempt, open_routes, route, requeues in tasks
    ]
