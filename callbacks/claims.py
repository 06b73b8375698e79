"""Claims due deliveries for a worker: each for one worker at a time, and fair over hosts.

A claim is one statement and lasts as long as the longest attempt. Where a worker dies without recording its attempt,
another sends the delivery again under the same id.
"""

from collections.abc import Mapping
from typing import Any

from callbacks.deliveries import Due
from common import sql

LEASE_SECONDS = 25
HOST_SEATS = 6

FREE = "status = 'pending' AND next_attempt_at <= {now} AND (claimed_at IS NULL OR claimed_at <= {expired})"
# From host to host by the index: what one host has piled up is never read through to find another's.
OLDEST = """
WITH RECURSIVE hosts(host) AS (
    SELECT min(host) FROM callbacks_delivery WHERE status = 'pending'
    UNION ALL
    SELECT (SELECT min(d.host) FROM callbacks_delivery d WHERE d.status = 'pending' AND d.host > hosts.host)
    FROM hosts WHERE hosts.host IS NOT NULL
)
SELECT host, (
    SELECT {waiting} FROM (
        SELECT id, attempts, next_attempt_at FROM callbacks_delivery
        WHERE callbacks_delivery.host = hosts.host AND {free} ORDER BY next_attempt_at LIMIT %s
    ) AS due
) AS waiting FROM hosts WHERE host IS NOT NULL
"""
CLAIM = """
UPDATE callbacks_delivery SET claimed_at = {now}
WHERE id IN (SELECT id FROM callbacks_delivery WHERE id {chosen} AND {free}{lock})
RETURNING id, task_id, url, host, attempts, resends, scheduled_at, claimed_at,
    (SELECT secret_id FROM tasks_task WHERE tasks_task.id = task_id) AS secret_id
"""


def claim(*, seats: int, retry_seats: int, busy: Mapping[str, int]) -> tuple[Due, ...]:
    """Due deliveries for up to `seats` attempts, at most `retry_seats` of them not the first of their delivery.

    `busy` tells how many attempts this worker has in flight at each host.
    """
    chosen = _deal(_oldest(), seats=seats, retry_seats=retry_seats, busy=busy)
    if not chosen:
        return ()
    lock = sql.row_lock(skip_locked=True)
    statement = CLAIM.format(now=sql.now(), chosen=sql.among("text"), free=_free(), lock=lock)
    return tuple(_due(row) for row in sql.records(statement, [sql.ids(chosen)]))


def has_due() -> bool:
    """Whether any delivery is due now or being sent."""
    return bool(
        sql.fetch(
            "SELECT 1 FROM callbacks_delivery "
            f"WHERE status = 'pending' AND (next_attempt_at <= {sql.now()} OR claimed_at > {_expired()}) LIMIT 1"
        )
    )


def give_back(due: Due) -> None:
    """Undo a claim of which nothing was sent."""
    sql.run(
        "UPDATE callbacks_delivery SET claimed_at = NULL WHERE id = %s AND attempts = %s AND claimed_at = %s",
        [due.id, due.number - 1, sql.moment(due.claimed_at)],
    )


def _oldest() -> list[tuple[str, dict[str, Any]]]:
    """The oldest free deliveries of each host, the oldest of all first."""
    waiting = sql.objects({"id": "id", "attempts": "attempts", "at": "next_attempt_at"})
    hosts = sql.fetch(OLDEST.format(waiting=waiting, free=_free()), [HOST_SEATS])
    found = [(host, row) for host, rows in hosts for row in sql.as_document(rows) or ()]
    return sorted(found, key=lambda pair: str(pair[1]["at"]))


def _deal(
    waiting: list[tuple[str, dict[str, Any]]], *, seats: int, retry_seats: int, busy: Mapping[str, int]
) -> list[str]:
    taken = dict(busy)
    chosen: list[str] = []
    for host, row in waiting:
        is_retry = row["attempts"] > 0
        if len(chosen) == seats or taken.get(host, 0) >= HOST_SEATS or (is_retry and retry_seats <= 0):
            continue
        taken[host] = taken.get(host, 0) + 1
        retry_seats -= is_retry
        chosen.append(row["id"])
    return chosen


def _free() -> str:
    return FREE.format(now=sql.now(), expired=_expired())


def _expired() -> str:
    return sql.later(str(-LEASE_SECONDS))


def _due(row: Any) -> Due:
    claimed_at = sql.as_moment(row.claimed_at)
    return Due(
        id=row.id,
        task_id=row.task_id,
        secret_id=row.secret_id,
        url=row.url,
        host=row.host,
        number=row.attempts + 1,
        scheduled=row.attempts - row.resends,
        is_resend=row.scheduled_at is None or sql.as_moment(row.scheduled_at) > claimed_at,
        claimed_at=claimed_at,
    )
