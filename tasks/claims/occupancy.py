"""What is taken now: seats by the tasks that run, counted from rows, and channels by their cool-downs and limits."""

from collections import Counter
from collections.abc import Collection

from catalog import pausing, snapshot
from catalog.health import states
from catalog.snapshot import Catalog
from common import sql
from tasks import route_sets
from tasks.claims.dealing import Occupancy
from tasks.failover import Way

# `status IN …` repeats the condition of the index `task_limits`: SQLite takes it only where that is spelled out.
TAKEN = """
SELECT 'key' AS kind, key_id AS place, account_id AS other, count(*) AS tasks FROM tasks_task
WHERE account_id {listed} AND status = 'running' AND status IN ('queued', 'running')
GROUP BY key_id, account_id
UNION ALL
SELECT 'channel', channel_id, 0, count(*) FROM tasks_task
WHERE channel_id {listed} AND status = 'running' GROUP BY channel_id
UNION ALL
SELECT 'total', s.max_running, t.last_key,
    CASE WHEN s.max_running IS NULL THEN 0 ELSE (SELECT count(*) FROM tasks_task WHERE status = 'running') END
FROM tasks_servicestate s CROSS JOIN tasks_claimturn t
UNION ALL
SELECT p.kind, p.id, 0, 0 FROM ({paused}) p
"""


def read(catalog: Catalog, accounts: Collection[int] = ()) -> Occupancy:
    """Two statements. Keys are counted of these accounts only, and channels only where they have a limit."""
    limits = {c.id: c.max_running for c in catalog.channels() if c.max_running is not None}
    statement = TAKEN.format(
        listed=sql.listed("bigint"),
        paused=pausing.PAUSED,
    )
    rows = sql.records(statement, [sql.values(accounts), sql.values(limits)])
    by_account = Counter[int]()
    for row in rows:
        if row.kind == "key":
            by_account[row.other] += row.tasks
    (total,) = (row for row in rows if row.kind == "total")
    return Occupancy(
        by_key={row.place: row.tasks for row in rows if row.kind == "key"},
        by_account=by_account,
        by_channel={row.place: row.tasks for row in rows if row.kind == "channel"},
        total=total.tasks,
        channel_limits=limits,
        total_limit=total.place,
        last_key=total.other,
        states=states.read(),
        paused=frozenset(row.place for row in rows if row.kind == "paused channel"),
        paused_models=frozenset(row.place for row in rows if row.kind == "paused model"),
    )


def ways(open_routes_id: int, catalog: Catalog, occupancy: Occupancy, *, account_id: int = 0) -> list[Way]:
    """The routes of a set, and what holds each back for a task of this account (0: for any): the channels' limits count
    as the catalog has the routes now."""
    return [_way(route_id, catalog, occupancy, account_id) for route_id in route_sets.routes_of(open_routes_id)]


def _way(route_id: int, catalog: Catalog, occupancy: Occupancy, account_id: int) -> Way:
    route = catalog.route(route_id)
    if route is None:
        return Way(route_id=route_id, obstacle="gone")
    credentials = occupancy.state_of(route).credentials
    return Way(route_id=route_id, obstacle=occupancy.obstacle(route, account_id), credentials=len(credentials))


def ways_now(open_routes_id: int, account_id: int) -> list[Way]:
    catalog = snapshot.latest()
    return ways(open_routes_id, catalog, read(catalog), account_id=account_id)
