"""What waits in the queue, by key and open routes: one probe of the claim index for each group, however many tasks wait
in it, and no more groups than a claim can use."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from catalog.entries import RouteEntry
from catalog.snapshot import Catalog
from common import modalities, sql
from tasks import route_sets
from tasks.claims.dealing import Waiting

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
    """Each key's are here, or none of them. Without `is_all` there are more, of keys whose turn comes later."""

    waiting: tuple[Waiting, ...]
    is_all: bool


def ready() -> str:
    """A queued task that may start now; past its deadline it may only time out. One of a modality that only another
    version knows has no execution deadline here."""
    known = f"modality IN ({sql.words(modalities.NAMES)})"
    return f"(not_before IS NULL OR not_before <= {sql.now()}) AND deadline_at > {sql.now()} AND {known}"


def read(catalog: Catalog, *, most: int | None = None) -> Groups:
    """At most so many groups, those of the keys first whose turn it is. One statement."""
    rows = sql.records(_statement(EVERY if most is None else most + 1))
    is_all = most is None or len(rows) <= most
    whole = rows if is_all else [row for row in rows if row.key_id != rows[-1].key_id]
    return Groups(waiting=tuple(_waiting(whole, catalog)), is_all=is_all)


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
            yield Waiting(**row._asdict(), routes=_live(row.open_routes_id, catalog))


def _live(open_routes_id: int, catalog: Catalog) -> list[RouteEntry]:
    return [route for found in route_sets.routes_of(open_routes_id) if (route := catalog.route(found))]
