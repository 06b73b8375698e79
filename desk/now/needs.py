"""State of the service and counts of items that need an operator, read by one bounded statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from common import ids, sql
from tasks import leases
from tasks.figures import reading

MOST = 100
"""Unknown outcomes are counted up to this limit."""
RECENT = timedelta(days=3)
"""Deliveries of older tasks are ignored."""
MOST_DELIVERIES = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHealth:
    """State of the service at one moment.

    `max_running` is the service's limit, `oldest_unsealed_at` the first booking after the last seal, `relayed_micros`
    the earnings from relayed calls today, and `lost_calls` the relayed calls of the last day that no customer paid for.
    """

    has_tasks: bool
    is_paused: bool
    is_off: bool
    is_behind: bool
    max_running: int | None
    workers: int
    janitors: int
    unknown: int
    exhausted: int
    lost_calls: int
    relayed_micros: int
    seal: int | None
    sealed_at: datetime | None
    oldest_unsealed_at: datetime | None
    paused_models: frozenset[int]


# The first part sets the column types.
STATEMENT = """
SELECT 'seal' AS kind, number AS n, at FROM billing_ledgerseal
WHERE number = (SELECT max(number) FROM billing_ledgerseal)
UNION ALL SELECT 'unsealed', 1, at FROM (
    SELECT at FROM billing_ledgerentry
    WHERE id > COALESCE((SELECT max(last_entry_id) FROM billing_ledgerseal), 0) ORDER BY id LIMIT 1) e
UNION ALL SELECT 'tasks', 1, NULL FROM (SELECT id FROM tasks_task ORDER BY id LIMIT 1) t
UNION ALL SELECT CASE WHEN api_disabled THEN 'off' WHEN paused THEN 'paused' ELSE 'open' END, max_running, NULL
    FROM tasks_servicestate
UNION ALL SELECT 'paused model', id, NULL FROM catalog_mediamodel WHERE standing = 'paused'
UNION ALL SELECT 'behind', 1, NULL FROM ({behind}) b
UNION ALL SELECT 'workers', count(CASE WHEN w.lanes LIKE '%%tasks%%' THEN 1 END), NULL
    FROM tasks_worker w WHERE NOT {is_dead}
UNION ALL SELECT 'janitors', count(CASE WHEN w.lanes LIKE '%%janitor%%' THEN 1 END), NULL
    FROM tasks_worker w WHERE NOT {is_dead}
UNION ALL SELECT 'unknown', count(*), NULL FROM (
    SELECT 1 FROM tasks_call WHERE state = 'unknown' AND {resolved} IS NULL LIMIT {most}) c
UNION ALL SELECT 'exhausted', count(*), NULL FROM (
    SELECT status FROM callbacks_delivery WHERE id > %s ORDER BY id DESC LIMIT {most_deliveries}) d
    WHERE d.status = 'exhausted'
UNION ALL SELECT 'lost', count(*), NULL FROM billing_relayedcall WHERE is_loss AND id > %s
UNION ALL SELECT 'relayed', CAST(COALESCE(sum(u.cost_micros), 0) AS bigint), NULL
    FROM accounts_apikey k JOIN billing_relayusage u ON u.key_id = k.id AND u.day = %s WHERE k.binding = 'general'
"""


def read(now: datetime) -> ServiceHealth:
    """Read the state in one statement."""
    statement = STATEMENT.format(
        behind=reading.BEHIND % reading.TAIL,
        is_dead=leases.is_dead(),
        resolved=sql.json_text("outcome", "resolved"),
        most=MOST,
        most_deliveries=MOST_DELIVERIES,
    )
    calls_since = ids.task_id_floor((now - timedelta(days=1)).timestamp()).replace(ids.PREFIX, "call_")
    since = ids.task_id_floor((now - RECENT).timestamp())
    rows = sql.records(statement, [since, calls_since, now.astimezone(UTC).date().isoformat()])
    return _read_rows(rows)


def _read_rows(found: Sequence[Any]) -> ServiceHealth:
    rows = {row.kind: row for row in found}
    state = next(rows[kind] for kind in ("off", "paused", "open") if kind in rows)
    counts = {kind: int(row.n or 0) for kind, row in rows.items()}
    return ServiceHealth(
        has_tasks="tasks" in rows,
        is_paused="paused" in rows,
        is_off="off" in rows,
        is_behind="behind" in rows,
        max_running=state.n,
        workers=counts["workers"],
        janitors=counts["janitors"],
        unknown=counts["unknown"],
        exhausted=counts["exhausted"],
        lost_calls=counts["lost"],
        relayed_micros=counts["relayed"],
        seal=counts.get("seal"),
        sealed_at=_at(rows.get("seal")),
        oldest_unsealed_at=_at(rows.get("unsealed")),
        paused_models=frozenset(row.n for row in found if row.kind == "paused model"),
    )


def _at(row: Any) -> datetime | None:
    return None if row is None else sql.as_moment(row.at)
