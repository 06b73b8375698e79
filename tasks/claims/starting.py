"""Step 10, the tasks of a claim: the oldest ones of the groups that got seats start, with all that running them needs.
Inside the claim's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from django.conf import settings

from common import sql
from common.concurrency import wakeups
from common.database import writes
from tasks.claims.dealing import Seat
from tasks.claims.queue_state import ready
from tasks.events import events
from tasks.failover import Obstacle


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A task that this worker now runs: `attempt` is its fence; the route is the one it got a seat on, `passed` those
    before it that it did not get one on, each with the reason. `requeues` counts how often it has waited. `price` and
    `params` are as they are stored; without a payload `params` is None."""

    id: str
    attempt: int
    key_id: int
    account_id: int
    media_model_id: int | None
    modality: str
    route_id: int
    open_routes_id: int
    requeues: int
    deadline_at: datetime
    deadline_seconds: float
    price: Any = field(repr=False)
    params: Any = field(repr=False)
    passed: tuple[tuple[int, Obstacle], ...] = ()


# One probe of the claim index per group, all of them in one statement; SQLite has no LATERAL, and needs none.
OLDEST_POSTGRESQL = """
SELECT r.key, r.routes, t.id, t.attempt FROM {rows} CROSS JOIN LATERAL (
    SELECT id, attempt FROM tasks_task
    WHERE key_id = r.key AND open_routes_id = r.routes AND status = 'queued' AND {ready}
    ORDER BY id LIMIT r.seats{lock}) t
"""
OLDEST_SQLITE = """
SELECT key_id, open_routes_id, id, attempt FROM tasks_task WHERE key_id = %s AND open_routes_id = %s
    AND status = 'queued' AND {ready} ORDER BY id LIMIT %s
"""


PICKED_COLUMNS = "key bigint, routes bigint, seats bigint"


@cache
def _oldest_statement() -> str:
    if not sql.is_postgresql():
        return OLDEST_SQLITE.format(ready=ready())
    return OLDEST_POSTGRESQL.format(rows=sql.rows(PICKED_COLUMNS), ready=ready(), lock=sql.row_lock(skip_locked=True))


def _oldest(wanted: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, str, int]]:
    """(key, open routes, id, attempt) of the first tasks of these groups, as many of each as are wanted, locked."""
    if not sql.is_postgresql():
        return [row for group in wanted for row in sql.fetch(_oldest_statement(), group)]
    return sql.fetch(_oldest_statement(), [sql.pack([{"key": k, "routes": r, "seats": n} for k, r, n in wanted])])


START = """
UPDATE tasks_task SET status = 'running', attempt = r.attempt, worker_id = r.worker, channel_id = r.channel,
    route_id = r.route, not_before = NULL, progress = NULL, started_at = COALESCE(started_at, {now}),
    deadline_at = CASE WHEN seconds_left IS NOT NULL THEN {left} ELSE CASE modality {deadlines} END END
FROM {rows} WHERE tasks_task.id = r.id AND tasks_task.status = 'queued'
RETURNING {columns}, (SELECT COALESCE(p.params, 'null') FROM tasks_taskpayload p WHERE p.task_id = tasks_task.id)
"""
START_COLUMNS = "id text, key bigint, attempt bigint, worker text, channel bigint, route bigint"
STARTED = (
    "id", "attempt", "key_id", "account_id", "media_model_id", "modality", "route_id", "open_routes_id", "requeues",
    "deadline_at", "seconds_left", "price",
)  # fmt: skip
STARTED_COLUMNS = ", ".join(f"tasks_task.{name}" for name in STARTED)


@lru_cache(maxsize=8)
def _writes(deadlines: tuple[tuple[str, int], ...]) -> list[str]:
    """The move of a task, and its event."""
    left = " ".join(
        f"WHEN '{modality}' THEN {sql.later(str(seconds))}" for modality, seconds in deadlines if modality != "queue"
    )
    move = START.format(
        now=sql.now(), left=sql.later("seconds_left"), deadlines=left, columns=STARTED_COLUMNS, rows="{rows}"
    )
    return [move, events.recording(task="r.id", key="r.key", status="'running'", attempt="r.attempt")]


def start(worker_id: str, dealt: Sequence[Seat]) -> tuple[Claimed, ...]:
    """Start the oldest ready tasks of each group that got seats, each with its event, all in one statement."""
    seats: dict[tuple[int, int], list[Seat]] = {}
    for seat in dealt:
        seats.setdefault((seat.group.key_id, seat.group.open_routes_id), []).append(seat)
    oldest = sorted(_oldest([(*group, len(of_group)) for group, of_group in seats.items()]))
    if not oldest:
        return ()
    passed: dict[str, tuple[tuple[int, Obstacle], ...]] = {}
    items = []
    for key_id, routes, task_id, attempt in oldest:
        seat = seats[key_id, routes].pop(0)
        passed[task_id] = seat.passed
        items.append(_start_row(task_id, attempt + 1, seat, worker_id))
    rows = writes.write_together(START_COLUMNS, items, _writes(tuple(settings.TASK_DEADLINES.items())))
    wakeups.tell(*events.TOPICS["running"])
    return tuple(_claimed(dict(zip((*STARTED, "params"), row, strict=True)), passed[row[0]]) for row in sorted(rows))


def _start_row(task_id: str, attempt: int, seat: Seat, worker_id: str) -> dict[str, Any]:
    return {
        "id": task_id,
        "key": seat.group.key_id,
        "attempt": attempt,
        "worker": worker_id,
        "channel": seat.channel_id,
        "route": seat.route_id,
    }


def _claimed(row: dict[str, Any], passed: tuple[tuple[int, Obstacle], ...]) -> Claimed:
    left, deadline_at = row.pop("seconds_left"), sql.as_moment(row.pop("deadline_at"))
    seconds = settings.TASK_DEADLINES[row["modality"]] if left is None else left
    return Claimed(deadline_at=deadline_at, deadline_seconds=seconds, passed=passed, **row)
