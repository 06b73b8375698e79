"""Who sends which delivery now: any number of workers, each delivery by one at a time, fair over hosts.

A claim is one statement and lasts as long as the longest attempt; a worker that dies without recording one leaves the
delivery to the next, which sends it again under the same id.
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
    SELECT {listed} FROM (
        SELECT id, attempts, next_attempt_at FROM callbacks_delivery
        WHERE callbacks_delivery.host = hosts.host AND {free} ORDER BY next_attempt_at LIMIT %s
    ) AS due
) FROM hosts WHERE host IS NOT NULL
"""
CLAIM = """
UPDATE callbacks_delivery SET claimed_at = {now}
WHERE id IN (SELECT id FROM callbacks_delivery WHERE id IN (SELECT r.id FROM {rows}) AND {free}{skip_locked})
RETURNING id, task_id, (SELECT secret_id FROM tasks_task WHERE tasks_task.id = task_id), url, host, attempts, resends,
    scheduled_at, claimed_at
"""


def claim(*, seats: int, retry_seats: int, busy: Mapping[str, int]) -> tuple[Due, ...]:
    """Due deliveries for up to `seats` attempts, at most `retry_seats` of them not the first of their delivery.

    `busy` tells how many attempts this worker has in flight at each host.
    """
    chosen = _deal(_oldest(), seats=seats, retry_seats=retry_seats, busy=busy)
    if not chosen:
        return ()
    statement = CLAIM.format(
        now=sql.now(),
        rows=sql.rows("id text"),
        free=_free(),
        skip_locked=" FOR NO KEY UPDATE SKIP LOCKED" if sql.is_postgresql() else "",
    )
    return tuple(_due(row) for row in sql.fetch(statement, [sql.pack({"id": found} for found in chosen)]))


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
    pairs = "'id', id, 'attempts', attempts, 'at', next_attempt_at"
    listed = (
        f"jsonb_agg(jsonb_build_object({pairs}))" if sql.is_postgresql() else f"json_group_array(json_object({pairs}))"
    )
    hosts = sql.fetch(OLDEST.format(listed=listed, free=_free()), [HOST_SEATS])
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


def _due(row: tuple[Any, ...]) -> Due:
    delivery_id, task_id, secret_id, url, host, attempts, resends, scheduled_at, claimed_at = row
    return Due(
        id=delivery_id,
        task_id=task_id,
        secret_id=secret_id,
        url=url,
        host=host,
        number=attempts + 1,
        scheduled=attempts - resends,
        is_resend=scheduled_at is None or sql.as_moment(scheduled_at) > sql.as_moment(claimed_at),
        claimed_at=sql.as_moment(claimed_at),
    )
