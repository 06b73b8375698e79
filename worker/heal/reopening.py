"""Queued tasks get routes back that refused them in passing, where those that they were left with lead nowhere now."""

from dataclasses import dataclass

from catalog import health, snapshot
from common import sql
from tasks import queue, route_sets
from worker import retry_policy
from worker.buy import failed_calls

NONE: frozenset[int] = frozenset()
BATCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A queued task, after so many earlier `waits`; `submitted` is the route set that it came with."""

    id: str
    attempt: int
    waits: int
    submitted: int


LEFT_ROUTES = """
SELECT id, attempt, requeues, route_set_id, open_routes_id FROM tasks_task
WHERE status = 'queued' AND attempt > 0 AND open_routes_id <> route_set_id
    AND (not_before IS NULL OR not_before <= {now})
ORDER BY id LIMIT %s
"""


def reopen_crowded() -> int:
    """Tasks that no open route has a seat for now may also take again, after a while, what was only busy before.
    Returns how many."""
    rows = sql.fetch(LEFT_ROUTES.format(now=sql.now()), [BATCH])
    if not rows:
        return 0
    catalog, blocked, disabled = snapshot.latest(), queue.blocked_channels(), health.disabled_channels()
    reopened = 0
    for task_id, attempt, waits, submitted, open_routes in rows:
        live = [found for row in route_sets.routes_of(open_routes) if (found := catalog.route(row["route"]))]
        if live and all(route.channel.id in blocked for route in live):
            task = Queued(id=task_id, attempt=attempt, waits=waits, submitted=submitted)
            reopened += reopen(task, disabled, beside=frozenset(route.id for route in live))
    return reopened


REOPEN = """
UPDATE tasks_task SET open_routes_id = %s, requeues = requeues + 1, not_before = {later}
WHERE id = %s AND attempt = %s AND status = 'queued'
"""


def reopen(task: Queued, disabled: frozenset[int], *, beside: frozenset[int] = NONE) -> bool:
    """Whether the task waits now for a route that was only busy and whose channel is not disabled, beside the given
    ones."""
    spoiled = failed_calls.spoiled_calls(task.id) if task.attempt else []
    wait = retry_policy.of_last_route(spoiled, rounds=task.waits, retry_after=0.0)
    if wait is None:
        return False
    catalog = snapshot.latest()
    live = {found.id for found in map(catalog.route, wait.routes) if found and found.channel.id not in disabled}
    if live <= beside:
        return False
    back = route_sets.only(task.submitted, beside | live)
    return back is not None and bool(
        sql.run(REOPEN.format(later=sql.later("%s")), [back, wait.delay_seconds, task.id, task.attempt])
    )
