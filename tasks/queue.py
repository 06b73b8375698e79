"""Step 7: queued tasks get a worker, and go back to the queue when nothing can have been accepted upstream.

A claim is one small transaction behind one advisory lock, so that limits are strict over any number of workers: they
are counted from rows, after the lock, in a statement of their own (with the lock in the same statement the count would
see the older snapshot).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction

from catalog import health, snapshot
from catalog.snapshot import Catalog
from common import sql
from tasks import route_sets
from tasks.dealing import Running, Seat, Waiting, deal, is_unavailable, obstacle
from tasks.events import events
from tasks.locks import lock_tasks, serialise_claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A task that this worker now runs: `attempt` is its fence; the route is the one it got a seat on, `passed` those
    before it that it did not get one on, each with the reason."""

    id: str
    attempt: int
    key_id: int
    modality: str
    route_id: int
    open_routes_id: int
    requeues: int
    deadline_at: datetime
    deadline_seconds: float
    passed: tuple[tuple[int, str], ...] = ()


Group = tuple[int, int]
"""Queued tasks of one key (id) with one set of open routes (id)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a claim brought: the tasks; the groups whose routes have all vanished, and those whose routes all lead to
    disabled channels."""

    tasks: tuple[Claimed, ...]
    routeless: tuple[Group, ...]
    unavailable: tuple[Group, ...] = ()


def has_waiting() -> bool:
    """Whether any queued task may start now; cheap, without the lock."""
    return bool(sql.fetch(f"SELECT 1 FROM tasks_task WHERE status = 'queued' AND {ready()} LIMIT 1"))


def claim(worker_id: str, *, seats: int) -> Claim:
    """Give up to `seats` queued tasks to this worker."""
    catalog = snapshot.latest()
    with transaction.atomic():
        serialise_claims()
        waiting, routeless = _waiting(catalog)
        if not waiting:
            return Claim(tasks=(), routeless=routeless)
        running, last_key = _running(waiting, catalog)
        dealt = deal(waiting, running, seats=seats, last_key=last_key)
        picked = _pick(dealt)
        claimed = _start(worker_id, picked) if picked else ()
        if dealt:
            sql.run("UPDATE tasks_claimturn SET last_key = %s", [dealt[-1].group.key_id])
    unavailable = tuple((g.key_id, g.route_set_id) for g in waiting if is_unavailable(g, running))
    return Claim(tasks=claimed, routeless=routeless, unavailable=unavailable)


# A loose index scan: one probe of the claim index per group, however many tasks wait in it.
GROUPS_POSTGRESQL = """
WITH RECURSIVE g AS (
    (SELECT key_id, open_routes_id, id FROM tasks_task WHERE status = 'queued' AND {ready}
     ORDER BY key_id, open_routes_id, id LIMIT 1)
    UNION ALL
    SELECT n.key_id, n.open_routes_id, n.id FROM g CROSS JOIN LATERAL (
        SELECT key_id, open_routes_id, id FROM tasks_task
        WHERE status = 'queued' AND {ready} AND (key_id, open_routes_id) > (g.key_id, g.open_routes_id)
        ORDER BY key_id, open_routes_id, id LIMIT 1) n
)
"""
GROUPS_SQLITE = """
WITH g AS (
    SELECT key_id, open_routes_id, min(id) AS id FROM tasks_task WHERE status = 'queued' AND {ready}
    GROUP BY key_id, open_routes_id
)
"""
GROUPS = """
SELECT g.key_id, k.account_id, g.open_routes_id, g.id, k.max_running, a.max_running
FROM g JOIN accounts_apikey k ON k.id = g.key_id JOIN accounts_account a ON a.id = k.account_id
"""


def ready() -> str:
    """A queued task that may start now; past its deadline it may only time out."""
    return f"(not_before IS NULL OR not_before <= {sql.now()}) AND deadline_at > {sql.now()}"


def _waiting(catalog: Catalog) -> tuple[list[Waiting], tuple[Group, ...]]:
    groups = GROUPS_POSTGRESQL if sql.is_postgresql() else GROUPS_SQLITE
    waiting, routeless = [], []
    for key, account, route_set, head, key_limit, account_limit in sql.fetch(groups.format(ready=ready()) + GROUPS):
        routes = _open_routes(route_set, catalog)
        if not routes:
            routeless.append((key, route_set))
            continue
        waiting.append(
            Waiting(
                key_id=key,
                account_id=account,
                route_set_id=route_set,
                head=head,
                key_limit=key_limit,
                account_limit=account_limit,
                routes=routes,
            )
        )
    return waiting, tuple(routeless)


def _open_routes(route_set_id: int, catalog: Catalog) -> list[dict[str, Any]]:
    """The routes of a set that are still enabled, as the catalog has them now: their channels' limits must hold."""
    live = (catalog.route(row["route"]) for row in route_sets.routes_of(route_set_id))
    return [
        {"route": route.id, "channel": route.channel.id, "priority": route.priority, "weight": route.weight}
        for route in live
        if route is not None
    ]


RUNNING = """
SELECT 'key', key_id, account_id, count(*) FROM tasks_task
WHERE account_id IN ({accounts}) AND status = 'running' AND status IN ('queued', 'running')
GROUP BY key_id, account_id
UNION ALL
SELECT 'channel', channel_id, 0, count(*) FROM tasks_task
WHERE channel_id IN ({channels}) AND status = 'running' GROUP BY channel_id
UNION ALL
SELECT 'total', COALESCE(s.max_running, -1), t.last_key,
    CASE WHEN s.max_running IS NULL THEN 0 ELSE (SELECT count(*) FROM tasks_task WHERE status = 'running') END
FROM tasks_servicestate s CROSS JOIN tasks_claimturn t
UNION ALL
SELECT u.kind, u.channel_id, 0, 0 FROM ({unusable}) u
"""


def _running(waiting: Sequence[Waiting], catalog: Catalog) -> tuple[Running, int]:
    limits = {c.id: c.max_running for c in catalog.channels() if c.max_running is not None}
    accounts = {group.account_id for group in waiting}
    statement = RUNNING.format(
        accounts=sql.places(accounts), channels=sql.places(limits), unusable=health.UNUSABLE.format(now=sql.now())
    )
    rows = sql.fetch(statement, [*accounts, *limits])
    by_key, by_channel, by_account = Counter[int](), Counter[int](), Counter[int]()
    unusable: dict[str, set[int]] = {"resting": set(), "disabled": set()}
    total, total_limit, last_key = 0, None, 0
    for kind, first, second, count in rows:
        if kind == "key":
            by_key[first] += count
            by_account[second] += count
        elif kind == "channel":
            by_channel[first] = count
        elif kind in unusable:
            unusable[kind].add(first)
        else:
            total, last_key, total_limit = count, second, None if first < 0 else first
    return (
        Running(
            by_key=by_key,
            by_account=by_account,
            by_channel=by_channel,
            total=total,
            channel_limits=limits,
            total_limit=total_limit,
            resting=frozenset(unusable["resting"]),
            disabled=frozenset(unusable["disabled"]),
        ),
        last_key,
    )


def blocked_channels() -> frozenset[int]:
    """The channels, by id, on which nothing may start now: disabled, resting or full."""
    catalog = snapshot.latest()
    running, _ = _running([], catalog)
    return frozenset(channel.id for channel in catalog.channels() if obstacle(channel.id, running))


def _pick(dealt: Sequence[Seat]) -> list[tuple[str, Seat]]:
    """The oldest ready tasks of each group that got seats."""
    seats: dict[tuple[int, int], list[Seat]] = {}
    for seat in dealt:
        seats.setdefault((seat.group.key_id, seat.group.route_set_id), []).append(seat)
    lock = f"{sql.row_lock()} SKIP LOCKED" if sql.is_postgresql() else ""
    picked: list[tuple[str, Seat]] = []
    for (key, route_set), of_group in seats.items():
        rows = sql.fetch(
            "SELECT id FROM tasks_task WHERE key_id = %s AND open_routes_id = %s AND status = 'queued' AND "
            f"{ready()} ORDER BY id LIMIT %s{lock}",
            [key, route_set, len(of_group)],
        )
        picked.extend((row[0], seat) for row, seat in zip(rows, of_group, strict=False))
    return picked


START = """
UPDATE tasks_task SET status = 'running', attempt = attempt + 1, worker_id = %s, channel_id = r.channel,
    route_id = r.route, not_before = NULL, progress = NULL, started_at = COALESCE(started_at, {now}),
    deadline_at = CASE WHEN seconds_left IS NOT NULL THEN {left} ELSE CASE modality {deadlines} END END
FROM {rows} WHERE tasks_task.id = r.id AND tasks_task.status = 'queued'
RETURNING tasks_task.id, tasks_task.attempt, tasks_task.key_id, tasks_task.modality, tasks_task.route_id,
    tasks_task.open_routes_id, tasks_task.requeues, tasks_task.deadline_at, tasks_task.seconds_left
"""


def _start(worker_id: str, picked: Sequence[tuple[str, Seat]]) -> tuple[Claimed, ...]:
    deadlines = " ".join(
        f"WHEN '{modality}' THEN {sql.later(str(seconds))}"
        for modality, seconds in settings.TASK_DEADLINES.items()
        if modality != "queue"
    )
    statement = START.format(
        now=sql.now(),
        left=sql.later("seconds_left"),
        deadlines=deadlines,
        rows=sql.rows("id text, channel bigint, route bigint"),
    )
    rows = sql.fetch(
        statement,
        [worker_id, sql.pack({"id": i, "channel": s.channel_id, "route": s.route_id} for i, s in picked)],
    )
    passed = {task_id: seat.passed for task_id, seat in picked}
    claimed = tuple(replace(_claimed(*row), passed=passed[row[0]]) for row in sorted(rows))
    events.record((task.id, task.key_id, "running", task.attempt) for task in claimed)
    return claimed


def _claimed(task_id: str, attempt: int, key: int, modality: str, *rest: Any) -> Claimed:
    route, open_routes, requeues, deadline, seconds_left = rest
    return Claimed(
        id=task_id,
        attempt=attempt,
        key_id=key,
        modality=modality,
        route_id=route,
        open_routes_id=open_routes,
        requeues=requeues,
        deadline_at=sql.as_moment(deadline),
        deadline_seconds=settings.TASK_DEADLINES[modality] if seconds_left is None else seconds_left,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A running task that goes back to the queue: with which routes open, and not before how many seconds."""

    task_id: str
    attempt: int
    open_routes_id: int
    delay_seconds: float = 0.0
    is_failure: bool = True


REQUEUE = """
UPDATE tasks_task SET status = 'queued', worker_id = NULL, channel_id = NULL, route_id = NULL, progress = NULL,
    open_routes_id = r.routes, requeues = requeues + r.failures, not_before = {later}, deadline_at = {deadline},
    seconds_left = {left}
FROM {rows}
WHERE tasks_task.id = r.id AND tasks_task.status = 'running' AND tasks_task.attempt = r.attempt
RETURNING tasks_task.id, tasks_task.key_id, tasks_task.attempt
"""


def requeue(returns: Sequence[Return]) -> frozenset[str]:
    """Put these running tasks back; only for tasks of which surely nothing was accepted upstream.

    Returns the ids that went back; a task that another worker has taken over stays with it. The queue deadline counts
    from the submission again.
    """
    deadline = _queue_deadline()
    with transaction.atomic():
        lock_tasks([r.task_id for r in returns])
        rows = sql.fetch(
            REQUEUE.format(
                later=sql.later("r.delay"),
                deadline=deadline,
                left=_left(),
                rows=sql.rows("id text, attempt bigint, routes bigint, delay real, failures bigint"),
            ),
            [
                sql.pack(
                    {
                        "id": r.task_id,
                        "attempt": r.attempt,
                        "routes": r.open_routes_id,
                        "delay": r.delay_seconds,
                        "failures": int(r.is_failure),
                    }
                    for r in returns
                )
            ],
        )
        events.record((task_id, key, "queued", attempt) for task_id, key, attempt in rows)
    return frozenset(row[0] for row in rows)


LEAST_SECONDS_LEFT = 1.0


def _left() -> str:
    """What is left of the execution deadline, which is one for all attempts of a task together: waiting is not counted.
    At least a moment, so that a task whose worker died at the wrong time gets to its timeout in the usual way."""
    if sql.is_postgresql():
        left = "EXTRACT(EPOCH FROM deadline_at - statement_timestamp())"
        return f"GREATEST({LEAST_SECONDS_LEFT}, {left})"
    return f"max({LEAST_SECONDS_LEFT}, (julianday(deadline_at) - julianday('now')) * 86400.0)"


def _queue_deadline() -> str:
    seconds = settings.TASK_DEADLINES["queue"]
    if sql.is_postgresql():
        return f"created_at + make_interval(secs => {seconds})"
    return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', created_at, '{seconds} seconds')"
