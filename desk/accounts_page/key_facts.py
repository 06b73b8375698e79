"""Figures of keys: state, last characters, live tasks, and when they were last used."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common import sql

ENABLED, DISABLED, EXPIRED = "enabled", "disabled", "expired"
MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFacts:
    """Figures of one key. `last_used_at` is when its newest task or relayed call was submitted, None without one."""

    id: int
    name: str
    binding: str
    state: str
    last4: str
    queued: int
    running: int
    max_queued: int
    max_running: int
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


def read_account(account_id: int) -> list[KeyFacts]:
    """Read the newest MOST keys of an account, in one statement."""
    chosen = f"(SELECT id FROM accounts_apikey WHERE account_id = %s ORDER BY id DESC LIMIT {MOST})"
    return _read(chosen, [account_id])


def read_one(key_id: int) -> KeyFacts:
    """Read the figures of an existing key."""
    (found,) = _read("(%s)", [key_id])
    return found


def _read(chosen: str, parameters: Sequence[object]) -> list[KeyFacts]:
    return [_facts(row) for row in sql.records(FACTS.format(chosen=chosen, now=sql.now()), parameters)]


def _facts(row: Any) -> KeyFacts:
    used = [sql.as_moment(at) for at in (row.task_at, row.call_at) if at]
    return KeyFacts(
        id=row.id,
        name=row.name,
        binding=row.binding,
        state=DISABLED if row.disabled_at else EXPIRED if row.is_expired else ENABLED,
        last4=row.last4 or "",
        queued=int(row.queued),
        running=int(row.running),
        max_queued=row.max_queued,
        max_running=row.max_running,
        created_at=sql.as_moment(row.created_at),
        expires_at=sql.as_moment(row.expires_at) if row.expires_at else None,
        last_used_at=max(used, default=None),
    )


# A key's newest task is the last in its index by id. Live tasks have a partial index, whose condition SQLite needs
# spelled out.
LIVE = """SELECT count(*) FROM tasks_task t WHERE t.account_id = k.account_id AND t.key_id = k.id AND t.status = '{}'
        AND t.status IN ('queued', 'running')"""
FACTS = f"""
SELECT k.id, k.name, k.binding, k.disabled_at, k.expires_at, k.max_queued, k.max_running, k.created_at,
    COALESCE(k.expires_at <= {{now}}, false) AS is_expired,
    (SELECT s.last4 FROM accounts_keysecret s WHERE s.key_id = k.id ORDER BY s.id DESC LIMIT 1) AS last4,
    ({LIVE.format("queued")}) AS queued, ({LIVE.format("running")}) AS running,
    (SELECT t.created_at FROM tasks_task t WHERE t.key_id = k.id ORDER BY t.id DESC LIMIT 1) AS task_at,
    (SELECT c.created_at FROM billing_relayedcall c WHERE c.key_id = k.id ORDER BY c.id DESC LIMIT 1) AS call_at
FROM accounts_apikey k WHERE k.id IN {{chosen}} ORDER BY k.id DESC
"""
