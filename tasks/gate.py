"""Step 2: who calls and whether the service is open, in one statement that is always the request's first.

Nothing of a key is cached, so what a command or the admin changes holds from the next request on. Whose it is, is only
remembered to share out what a process has (`accounts/holders.py`).
"""

import re
from dataclasses import dataclass
from typing import Any

from accounts import holders, keys
from accounts.holders import Holder
from common import sql
from common.errors import ApiDisabled, AuthenticationError, ScopeRequired

BEARER = re.compile(r"Bearer +([\x21-\x7e]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated key as of this request; `secret_id` is the secret it presented. Money in micro-USD."""

    key_id: int
    secret_id: int
    account_id: int
    is_subscription: bool
    balance_micros: int
    held_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What operators have switched, and the version of the catalog."""

    is_paused: bool
    message: str
    retry_after_seconds: int
    catalog_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The task that an Idempotency-Key of this key already made."""

    task_id: str
    body_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    caller: Caller
    service: Service
    replay: Replay | None


def digest_of(authorization: str | None) -> str:
    """What the presented secret is looked up by; empty where there is none."""
    match = BEARER.fullmatch(authorization or "")
    return keys.digest(match[1]) if match else ""


def admit(authorization: str | None, *, idempotency_key: str | None = None) -> Admission:
    """Let a Task API key in. `authorization` is the raw header.

    Raises ApiDisabled, AuthenticationError, ScopeRequired, in this order; the 401 is the same for every cause.
    """
    digest = digest_of(authorization)
    (row,) = sql.records(STATEMENT.format(valid=VALID.format(now=sql.now())), [digest, idempotency_key])
    if row.api_disabled:
        raise ApiDisabled(headers={"Retry-After": str(row.retry_after_seconds)})
    caller = _caller(row)
    holders.remember(digest, Holder(key_id=caller.key_id, account_id=caller.account_id))
    return Admission(
        caller=caller,
        service=Service(
            is_paused=bool(row.paused),
            message=row.message,
            retry_after_seconds=row.retry_after_seconds,
            catalog_version=row.version,
        ),
        replay=Replay(task_id=row.task_id, body_digest=row.body_digest) if row.task_id else None,
    )


# Whether a secret (ks) of a key (k) opens anything; `tasks/events/readmission.py` asks the same of open streams.
VALID = """k.disabled_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now})
    AND (ks.retired_at IS NULL OR ks.retired_at > {now})"""
STATEMENT = """
SELECT s.api_disabled, s.paused, s.message, s.retry_after_seconds, c.version,
       k.id AS key_id, ks.id AS secret_id, a.id AS account_id, a.billing, a.balance_micros, a.held_micros,
       k.binding, k.task_api, {valid} AS is_valid,
       t.id AS task_id, t.body_digest
FROM tasks_servicestate s CROSS JOIN catalog_catalogversion c
LEFT JOIN accounts_keysecret ks ON ks.digest = %s
LEFT JOIN accounts_apikey k ON k.id = ks.key_id
LEFT JOIN accounts_account a ON a.id = k.account_id
LEFT JOIN tasks_task t ON t.key_id = k.id AND t.idempotency_key = %s
"""


def _caller(row: Any) -> Caller:
    if row.key_id is None or not row.is_valid:
        raise AuthenticationError(headers={"WWW-Authenticate": "Bearer"})
    if row.binding != "task" or not row.task_api:
        raise ScopeRequired()
    return Caller(
        key_id=row.key_id,
        secret_id=row.secret_id,
        account_id=row.account_id,
        is_subscription=row.billing == "subscription",
        balance_micros=row.balance_micros,
        held_micros=row.held_micros,
    )
