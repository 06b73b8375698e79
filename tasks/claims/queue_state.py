"""Step 10: the state of the queue as a claim reads it: what waits, by key and open routes, and what running tasks take.

A group costs one probe of the claim index, however many tasks wait in it, and no more groups are read than a claim can
use. What is taken is counted from rows.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from catalog import pausing, snapshot
from catalog.health import states
from catalog.snapshot import Catalog
from common import modalities, sql
from tasks import route_sets
from tasks.claims.dealing import Occupancy, Waiting
from tasks.failover import Way

EVERY = 1_000_000_000

# Loose index scans, first over the keys after the one that got the last seat, and then over the others, up to it. Where
# a lap ends is asked of what a probe has found: within the probe it would lead PostgreSQL to another index, and through
# all that a key has queued.
POSTGRESQL = """
WITH RECURSIVE {laps}, g AS (SELECT * FROM (SELECT * FROM later UNION ALL SELECT * FROM sooner) AS laps LIMIT {most})
"""
LAP_POSTGRESQL = """
{name} AS (
    (SELECT key_id, open_routes_id, id FROM tasks_task WHERE status = 'queued' AND {ready} AND {of_lap}
     ORDER BY key_id, open_routes_id, id LIMIT 1)
    UNION ALL
    SELECT n.key_id, n.open_routes_id, n.id FROM {name} p CROSS JOIN LATERAL (
        SELECT key_id, open_routes_id, id FROM tasks_task
        WHERE status = 'queued' AND {ready} AND (key_id, open_routes_id) > (p.key_id, p.open_routes_id)
        ORDER BY key_id, open_routes_id, id LIMIT 1) n
    WHERE n.{of_lap}
)
"""
SQLITE = """
WITH RECURSIVE {laps}, g AS (
    SELECT t.key_id, t.open_routes_id, t.id
    FROM (SELECT task FROM later UNION ALL SELECT task FROM sooner) JOIN tasks_task t ON t.rowid = task LIMIT {most}
)
"""
LAP_SQLITE = """
{name} (task) AS (
    SELECT (SELECT rowid FROM tasks_task WHERE status = 'queued' AND {ready} AND {of_lap}
        ORDER BY key_id, open_routes_id, id LIMIT 1)
    UNION ALL
    SELECT (SELECT CASE WHEN n.{of_lap} THEN n.rowid END FROM tasks_task n WHERE n.status = 'queued' AND {ready}
        AND (n.key_id, n.open_routes_id) > (p.key_id, p.open_routes_id)
        ORDER BY n.key_id, n.open_routes_id, n.id LIMIT 1)
    FROM {name} JOIN tasks_task p ON p.rowid = {name}.task
    LIMIT {most}
)
"""
LAPS = {"later": "key_id > {last}", "sooner": "key_id <= {last}"}
LAST = "(SELECT last_key FROM tasks_claimturn)"
# Not joined: PostgreSQL cannot tell how few the groups are, and would read all keys.
OF_KEY = "FROM accounts_apikey k JOIN accounts_account a ON a.id = k.account_id WHERE k.id = g.key_id"
GROUPS = f"""
SELECT g.key_id, (SELECT a.id {OF_KEY}) AS account_id, g.open_routes_id, g.id AS head,
    (SELECT k.max_running {OF_KEY}) AS key_limit, (SELECT a.max_running {OF_KEY}) AS account_limit
FROM g
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The groups that a claim reads: all groups of a key, or none. Without `is_all` there are more keys, whose turn
    comes later."""

    waiting: tuple[Waiting, ...]
    is_all: bool


@cache
def ready() -> str:
    """The condition of a queued task that may start now; past its deadline it may only time out. A task of a modality
    that only another version knows has no execution deadline here."""
    known = f"modality IN ({sql.words(modalities.NAMES)})"
    return f"(not_before IS NULL OR not_before <= {sql.now()}) AND deadline_at > {sql.now()} AND {known}"


def waiting(catalog: Catalog, *, most: int | None = None) -> Groups:
    """Read at most so many groups, those of the keys first whose turn it is. One statement."""
    rows = sql.records(_statement(EVERY if most is None else most + 1))
    is_all = most is None or len(rows) <= most
    whole = rows if is_all else [row for row in rows if row.key_id != rows[-1].key_id]
    return Groups(waiting=tuple(_waiting(whole, catalog)), is_all=is_all)


@lru_cache(maxsize=64)
def _statement(most: int) -> str:
    whole, lap = (POSTGRESQL, LAP_POSTGRESQL) if sql.is_postgresql() else (SQLITE, LAP_SQLITE)
    laps = [
        lap.format(name=name, ready=ready(), of_lap=of_lap.format(last=LAST), most=most)
        for name, of_lap in LAPS.items()
    ]
    return whole.format(laps=",".join(laps), most=most) + GROUPS


def _waiting(rows: Iterable[Any], catalog: Catalog) -> Iterable[Waiting]:
    for row in rows:
        if route_sets.is_readable(row.open_routes_id):
            live = [route for each in route_sets.routes_of(row.open_routes_id) if (route := catalog.route(each))]
            yield Waiting(**row._asdict(), routes=live)


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


@cache
def _taken() -> str:
    return TAKEN.format(listed=sql.listed("bigint"), paused=pausing.PAUSED)


def occupancy(catalog: Catalog, accounts: Collection[int] = ()) -> Occupancy:
    """Count the running tasks, and read how the channels stand. Two statements. Keys are counted of these accounts
    only, and channels only where they have a limit."""
    limits = {c.id: c.max_running for c in catalog.channels() if c.max_running is not None}
    rows = sql.records(_taken(), [sql.values(accounts), sql.values(limits)])
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


def ways(open_routes_id: int, catalog: Catalog, taken: Occupancy, *, account_id: int = 0) -> list[Way]:
    """List the routes of a set, and what holds each back for a task of this account (0: for any): the channels' limits
    count as the catalog has the routes now."""
    return [_way(route_id, catalog, taken, account_id) for route_id in route_sets.routes_of(open_routes_id)]


def _way(route_id: int, catalog: Catalog, taken: Occupancy, account_id: int) -> Way:
    route = catalog.route(route_id)
    if route is None:
        return Way(route_id=route_id, obstacle="gone")
    credentials = taken.state_of(route).credentials
    return Way(route_id=route_id, obstacle=taken.obstacle(route, account_id), credentials=len(credentials))


def ways_now(open_routes_id: int, account_id: int) -> list[Way]:
    """List the routes of a set as they stand now."""
    catalog = snapshot.latest()
    return ways(open_routes_id, catalog, occupancy(catalog), account_id=account_id)
