"""Step 10: queued tasks get a worker, and go back to the queue when nothing can have been accepted upstream.

A claim is one small transaction behind one advisory lock, so that limits are strict over any number of workers: they
are counted from rows, after the lock, in a statement of their own (with the lock in the same statement the count would
see the older snapshot).
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.db import transaction

from catalog import snapshot
from catalog.snapshot import Catalog
from common import sql
from tasks import failover
from tasks.claims import queue_state, starting
from tasks.claims.dealing import Occupancy, Seat, Waiting, deal
from tasks.claims.starting import Claimed
from tasks.events import events
from tasks.failures import Failure
from tasks.locks import lock_tasks, serialise_claims

SPARE_GROUPS = 20  # beyond the seats, for those that a limit or a busy route holds back
WIDE_PART = 0.1  # of a worker's time, for wide looks that bring nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Stranded:
    """Queued tasks of one key with one set of open routes, none of which leads anywhere: why they are to fail."""

    key_id: int
    open_routes_id: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a claim brought: the tasks to run, and those that cannot run any more."""

    tasks: tuple[Claimed, ...]
    stranded: tuple[Stranded, ...] = ()


# In the order of an index: else PostgreSQL might look for one queued task through all tasks.
NEXT = """
SELECT CASE WHEN (SELECT id FROM tasks_task WHERE status = 'queued' AND {ready}
    ORDER BY key_id, open_routes_id, id LIMIT 1) IS NOT NULL THEN 0.0 ELSE (
    SELECT {until} FROM (
        SELECT min(not_before) AS first FROM tasks_task WHERE status = 'queued' AND not_before > {now}) AS later) END
"""


@cache
def _next() -> str:
    now = sql.now()
    return NEXT.format(ready=queue_state.ready(), now=now, until=sql.seconds_between(now, "first"))


def seconds_to_next() -> float | None:
    """Tell the seconds until a queued task may start: 0 where one may now, None where none waits for a moment that will
    come. Cheap, without the lock."""
    return sql.seconds_left(_next())


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Groups of the queue, who got the seats, and which tasks are to fail. With `is_enough` other groups would change
    nothing."""

    groups: Sequence[Waiting]
    dealt: list[Seat]
    stranded: tuple[Stranded, ...]
    is_enough: bool


class WideLooks:
    """When to look at all groups: where that brought no more seats, not again at once. It takes the longer the more
    keys wait, for a busy route perhaps, and so the rest is longer."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    def is_due(self) -> bool:
        return time.monotonic() >= self._rests_until

    def note(self, began: float, *, helped: bool) -> None:
        """A look that began then, by time.monotonic, is over."""
        now = time.monotonic()
        self._rests_until = now if helped else now + (now - began) / WIDE_PART


_wide_looks = WideLooks()


def claim(worker_id: str, *, seats: int, looks_first: bool = False) -> Claim:
    """Give up to `seats` queued tasks to this worker. A worker that will probably get none
    `looks_first`, and takes the lock only where there is something to take."""
    catalog = snapshot.latest()
    if looks_first and not (look := look_at(catalog, seats)).dealt:
        return Claim(tasks=(), stranded=look.stranded)
    with transaction.atomic():
        serialise_claims()
        look = look_at(catalog, seats)
        tasks = starting.start(worker_id, look.dealt) if look.dealt else ()
        if look.dealt:
            sql.run("UPDATE tasks_claimturn SET last_key = %s", [look.dealt[-1].group.key_id])
    return Claim(tasks=tasks, stranded=look.stranded)


def look_at(catalog: Catalog, seats: int) -> Look:
    """Deal `seats` among the groups of the keys whose turn it is. All groups are read only where seats are left."""
    first = _look(catalog, seats, most=seats + SPARE_GROUPS)
    if first.is_enough or not _wide_looks.is_due():
        return first
    began = time.monotonic()
    wide = _look(catalog, seats, most=None)
    _wide_looks.note(began, helped=len(wide.dealt) > len(first.dealt))
    return wide


def _look(catalog: Catalog, seats: int, *, most: int | None) -> Look:
    found = queue_state.waiting(catalog, most=most)
    taken = queue_state.occupancy(catalog, {group.account_id for group in found.waiting})
    dealt = deal(found.waiting, taken, seats=seats)
    is_enough = found.is_all or len({seat.group.key_id for seat in dealt}) == seats
    running = {seat.group.open_routes_id for seat in dealt}
    held = [group for group in found.waiting if group.open_routes_id not in running]
    return Look(
        groups=found.waiting,
        dealt=dealt,
        stranded=tuple(_stranded(held, catalog, taken)) if held else (),
        is_enough=is_enough,
    )


def _stranded(groups: Sequence[Waiting], catalog: Catalog, taken: Occupancy) -> Iterable[Stranded]:
    """Those of the groups without a seat of which no route leads anywhere any more."""
    sets = {group.open_routes_id for group in groups}
    ends = {routes: failover.lead(queue_state.ways(routes, catalog, taken)).failure for routes in sets}
    for group in groups:
        if failure := ends[group.open_routes_id]:
            yield Stranded(key_id=group.key_id, open_routes_id=group.open_routes_id, failure=failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A running task that goes back to the queue: with which routes open, and not before how many seconds. The next
    wait of one that returns for a failure is longer."""

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
LEAST_SECONDS_LEFT = 1.0


def requeue(returns: Iterable[Return]) -> frozenset[str]:
    """Put these running tasks back; only for tasks of which surely nothing was accepted upstream.

    Returns the ids that went back; a task that another worker has taken over stays with it. The queue deadline counts
    from the submission again. Of the execution deadline, which is one for all attempts together, a task keeps what is
    left, since waiting is not counted: at least a moment, so that one whose worker died at the wrong time gets to its
    timeout in the usual way.
    """
    returning = {back.task_id: back for back in returns}
    statement = REQUEUE.format(
        later=sql.later("r.delay"),
        deadline=sql.after("created_at", str(settings.TASK_DEADLINES["queue"])),
        left=sql.greatest(str(LEAST_SECONDS_LEFT), sql.seconds_between(sql.now(), "deadline_at")),
        rows=sql.rows("id text, attempt bigint, routes bigint, delay real, failures bigint"),
    )
    with transaction.atomic():
        lock_tasks(list(returning))
        rows = sql.records(statement, [sql.pack(map(_row, returning.values()))])
        events.record((row.id, row.key_id, "queued", row.attempt) for row in rows)
    return frozenset(row.id for row in rows)


def _row(back: Return) -> dict[str, Any]:
    return {
        "id": back.task_id,
        "attempt": back.attempt,
        "routes": back.open_routes_id,
        "delay": back.delay_seconds,
        "failures": int(back.is_failure),
    }
