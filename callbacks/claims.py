"""Claims due deliveries for a worker: each for one worker at a time, and fair over accounts and hosts.

A claim is one statement and lasts as long as the longest attempt. Where a worker dies without recording its attempt,
another sends the delivery again under the same id. What a claim reads is bounded by what is due, not by what is
pending: deliveries that are due later, or that a worker has, stand in no index that it reads.
"""

from collections.abc import Mapping
from typing import Any

from callbacks import dealing
from callbacks.dealing import RECEIVER_SEATS, DueDelivery, Receiver
from callbacks.deliveries import Due
from common import sql

LEASE_SECONDS = 25
LOOKED_AT = 500
HOSTS_LOOKED_AT = 100

UNCLAIMED = "status = 'pending' AND claimed_at IS NULL"
FREE = "status = 'pending' AND next_attempt_at <= {now} AND (claimed_at IS NULL OR claimed_at <= {expired})"
COLUMNS = "id, account_id, host, attempts, next_attempt_at"
OLDEST = f"""
SELECT {COLUMNS} FROM (
    SELECT {COLUMNS} FROM callbacks_delivery
    WHERE {UNCLAIMED} AND next_attempt_at <= {{now}} ORDER BY next_attempt_at LIMIT {LOOKED_AT}
) AS unclaimed
"""
ABANDONED = f"""
SELECT {COLUMNS} FROM (
    SELECT {COLUMNS} FROM callbacks_delivery
    WHERE status = 'pending' AND claimed_at <= {{expired}} ORDER BY claimed_at LIMIT {LOOKED_AT}
) AS abandoned WHERE next_attempt_at <= {{now}}
"""
# From account to account and from host to host by the index: what one of them has piled up is never read through to
# find another's. An account of which nothing is due is passed over, and one with very many hosts looked at in parts.
BY_HOST = f"""
WITH RECURSIVE accounts(account) AS (
    SELECT min(account_id) FROM callbacks_delivery WHERE {UNCLAIMED}
    UNION ALL
    SELECT (SELECT min(d.account_id) FROM callbacks_delivery d
        WHERE d.status = 'pending' AND d.claimed_at IS NULL AND d.account_id > accounts.account)
    FROM accounts WHERE accounts.account IS NOT NULL
), hosts(account, host, looked_at) AS (
    SELECT account, (SELECT min(d.host) FROM callbacks_delivery d
        WHERE d.status = 'pending' AND d.claimed_at IS NULL AND d.account_id = accounts.account
        AND d.host > COALESCE((SELECT r.host FROM {{turns}} WHERE r.account = accounts.account), '')), 1
    FROM accounts WHERE account IS NOT NULL AND EXISTS (SELECT 1 FROM callbacks_delivery d
        WHERE d.status = 'pending' AND d.claimed_at IS NULL AND d.account_id = accounts.account
        AND d.next_attempt_at <= {{now}})
    UNION ALL
    SELECT account, (SELECT min(d.host) FROM callbacks_delivery d
        WHERE d.status = 'pending' AND d.claimed_at IS NULL AND d.account_id = hosts.account AND d.host > hosts.host),
        looked_at + 1
    FROM hosts WHERE hosts.host IS NOT NULL AND looked_at < {HOSTS_LOOKED_AT}
)
SELECT account, host, looked_at, (
    SELECT {{waiting}} FROM (
        SELECT id, attempts, next_attempt_at FROM callbacks_delivery
        WHERE {UNCLAIMED} AND account_id = hosts.account AND callbacks_delivery.host = hosts.host
        AND next_attempt_at <= {{now}} ORDER BY next_attempt_at LIMIT {RECEIVER_SEATS}
    ) AS due
) AS waiting FROM hosts WHERE host IS NOT NULL
"""
CLAIM = """
UPDATE callbacks_delivery SET claimed_at = {now}
WHERE id IN (SELECT id FROM callbacks_delivery WHERE id {chosen} AND {free}{lock})
RETURNING id, task_id, account_id, url, host, attempts, resends, scheduled_at, claimed_at,
    (SELECT secret_id FROM tasks_task WHERE tasks_task.id = task_id) AS secret_id
"""
NEXT = f"""
SELECT min(seconds) FROM (
    SELECT {{until_due}} AS seconds FROM (
        SELECT min(next_attempt_at) AS due_at FROM callbacks_delivery WHERE {UNCLAIMED}) AS unclaimed
    UNION ALL
    SELECT {{until_expired}} FROM (
        SELECT min(claimed_at) AS claimed_at FROM callbacks_delivery
        WHERE status = 'pending' AND claimed_at IS NOT NULL) AS claimed
) AS next
"""
HAS_DUE = f"""
SELECT 1 FROM callbacks_delivery WHERE {UNCLAIMED} AND next_attempt_at <= {{now}}
UNION ALL
SELECT 1 FROM callbacks_delivery WHERE status = 'pending' AND claimed_at IS NOT NULL
LIMIT 1
"""


class Claims:
    """The claims of one worker. It remembers where it left off in accounts with very many hosts."""

    def __init__(self) -> None:
        self._turns: dict[int, str] = {}

    def claim(self, *, seats: int, retry_seats: int, busy: Mapping[Receiver, int]) -> tuple[Due, ...]:
        """Due deliveries for up to `seats` attempts, at most `retry_seats` of them not the first of their delivery.

        `busy` tells how many attempts this worker has in flight for each account at each receiver.
        """
        chosen = dealing.deal(self._waiting(), seats=seats, retry_seats=retry_seats, busy=busy)
        if not chosen:
            return ()
        lock = sql.row_lock(skip_locked=True)
        free = FREE.format(now=sql.now(), expired=_expired())
        statement = CLAIM.format(now=sql.now(), chosen=sql.among("text"), free=free, lock=lock)
        return tuple(_due(row) for row in sql.records(statement, [sql.ids(chosen)]))

    def _waiting(self) -> list[DueDelivery]:
        """All that is due; where that is very much, the oldest and the oldest at each host."""
        oldest = f"{OLDEST} UNION ALL {ABANDONED}".format(now=sql.now(), expired=_expired())
        found = [_waiting(row.account_id, row.host, row._asdict()) for row in sql.records(oldest)]
        if len(found) < LOOKED_AT:
            return found
        return list({row.id: row for row in (*found, *self._at_each_host())}.values())

    def _at_each_host(self) -> list[DueDelivery]:
        waiting = sql.objects({name: name for name in ("id", "attempts", "next_attempt_at")})
        statement = BY_HOST.format(now=sql.now(), waiting=waiting, turns=sql.rows("account bigint, host text"))
        turns = sql.pack({"account": account, "host": host} for account, host in self._turns.items())
        hosts = sql.records(statement, [turns])
        self._turns = {row.account: row.host for row in hosts if row.looked_at == HOSTS_LOOKED_AT}
        return [_waiting(row.account, row.host, each) for row in hosts for each in sql.as_document(row.waiting) or ()]


def seconds_to_next() -> float | None:
    """Until a delivery may be claimed: 0 where one may now, None where none is pending."""
    statement = NEXT.format(
        until_due=sql.seconds_between(sql.now(), "due_at"),
        until_expired=sql.seconds_between(_expired(), "claimed_at"),
    )
    return sql.seconds_left(statement)


def has_due() -> bool:
    """Whether any delivery is due now or being sent."""
    return bool(sql.fetch(HAS_DUE.format(now=sql.now())))


def give_back(due: Due) -> None:
    """Undo a claim of which nothing was sent."""
    sql.run(
        "UPDATE callbacks_delivery SET claimed_at = NULL WHERE id = %s AND attempts = %s AND claimed_at = %s",
        [due.id, due.number - 1, sql.moment(due.claimed_at)],
    )


def _expired() -> str:
    return sql.later(str(-LEASE_SECONDS))


def _waiting(account_id: int, host: str, row: Mapping[str, Any]) -> DueDelivery:
    return DueDelivery(
        id=row["id"],
        account_id=account_id,
        host=host,
        is_retry=row["attempts"] > 0,
        due_at=sql.as_moment(row["next_attempt_at"]),
    )


def _due(row: Any) -> Due:
    claimed_at = sql.as_moment(row.claimed_at)
    return Due(
        id=row.id,
        task_id=row.task_id,
        account_id=row.account_id,
        secret_id=row.secret_id,
        url=row.url,
        host=row.host,
        number=row.attempts + 1,
        scheduled=row.attempts - row.resends,
        is_resend=row.scheduled_at is None or sql.as_moment(row.scheduled_at) > claimed_at,
        claimed_at=claimed_at,
    )
