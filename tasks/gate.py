"""Step 1½: who calls and whether the service is open, in one statement that is always the request's first.

Nothing of a key is cached, so what a command or the admin changes holds from the next request on.
"""

import re
from dataclasses import dataclass

from accounts import keys
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


def admit(authorization: str | None, *, idempotency_key: str | None = None) -> Admission:
    """Let a Task API key in. `authorization` is the raw header.

    Raises ApiDisabled, AuthenticationError, ScopeRequired, in this order; the 401 is the same for every cause.
    """
    match = BEARER.fullmatch(authorization or "")
    digest = keys.digest(match[1]) if match else ""
    row = sql.fetch(STATEMENT.format(valid=VALID.format(now=sql.now())), [digest, idempotency_key])[0]
    disabled, paused, message, retry_after, version, *caller = row
    if disabled:
        raise ApiDisabled(headers={"Retry-After": str(retry_after)})
    return Admission(
        caller=_caller(*caller[:9]),
        service=Service(
            is_paused=bool(paused), message=message, retry_after_seconds=retry_after, catalog_version=version
        ),
        replay=Replay(task_id=caller[9], body_digest=caller[10]) if caller[9] else None,
    )


# Whether a secret (ks) of a key (k) opens anything; `tasks/events/readmission.py` asks the same of open streams.
VALID = """k.disabled_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now})
    AND (ks.retired_at IS NULL OR ks.retired_at > {now})"""
STATEMENT = """
SELECT s.api_disabled, s.paused, s.message, s.retry_after_seconds, c.version,
       k.id, ks.id, a.id, a.billing, a.balance_micros, a.held_micros, k.binding, k.task_api,
       {valid},
       t.id, t.body_digest
FROM tasks_servicestate s CROSS JOIN catalog_catalogversion c
LEFT JOIN accounts_keysecret ks ON ks.digest = %s
LEFT JOIN accounts_apikey k ON k.id = ks.key_id
LEFT JOIN accounts_account a ON a.id = k.account_id
LEFT JOIN tasks_task t ON t.key_id = k.id AND t.idempotency_key = %s
"""


def _caller(
    key_id: int | None,
    secret_id: int,
    account_id: int,
    billing: str,
    balance: int,
    held: int,
    binding: str,
    task_api: bool,
    is_valid: bool,
) -> Caller:
    if key_id is None or not is_valid:
        raise AuthenticationError(headers={"WWW-Authenticate": "Bearer"})
    if binding != "task" or not task_api:
        raise ScopeRequired()
    return Caller(
        key_id=key_id,
        secret_id=secret_id,
        account_id=account_id,
        is_subscription=billing == "subscription",
        balance_micros=balance,
        held_micros=held,
    )
