"""Step 1: who calls and whether the service is open, in one statement that is always the request's first.

Requests that come together share it (`tasks_api/authentication.py`). Whether a key is valid at all,
`accounts/authentication.py` says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from accounts import authentication
from accounts.authentication import digest_of as digest_of
from accounts.authentication import looked_up as looked_up
from common.errors import ApiDisabled, ApiError, ApiPaused, GeneralKeyRefused, ScopeRequired

DISABLED_RETRY_SECONDS = "60"  # on every path: SDKs of others are never told more


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated key as of this request, which may have at most `max_queued` queued tasks; `secret_id` is the
    secret it presented. `has_videos`: its operator has opened `/v1/videos` for it. Money in micro-USD."""

    key_id: int
    secret_id: int
    account_id: int
    is_subscription: bool
    balance_micros: int
    held_micros: int
    max_queued: int
    has_videos: bool = False


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Knock:
    """A request that wants to be let in: its raw Authorization, and its Idempotency-Key where that is a valid one."""

    authorization: str | None
    idempotency_key: str | None = None


def admit(authorization: str | None, *, idempotency_key: str | None = None) -> Admission:
    """Let a Task API key in. `authorization` is the raw header.

    Raises ApiDisabled, AuthenticationError, ScopeRequired, in this order; the 401 is the same for every cause.
    """
    return admit_secret(digest_of(authorization), idempotency_key=idempotency_key)


def admit_secret(digest: str, *, idempotency_key: str | None = None) -> Admission:
    """The same for who has presented the secret of this digest before."""
    (found,) = _admitted([digest], [idempotency_key])
    if isinstance(found, ApiError):
        raise found
    return found


def refuse_while_paused(service: Service) -> None:
    """Raises ApiPaused, with the operator's message, where no new tasks are taken."""
    if service.is_paused:
        raise ApiPaused(service.message, headers={"Retry-After": str(service.retry_after_seconds)})


def admit_all(knocks: Sequence[Knock]) -> list[Admission | ApiError]:
    """The same of many requests in one statement: for each its admission, or what `admit` raises."""
    return _admitted([digest_of(knock.authorization) for knock in knocks], [knock.idempotency_key for knock in knocks])


def _admitted(digests: Sequence[str], idempotency_keys: Sequence[str | None]) -> list[Admission | ApiError]:
    rows = looked_up(STATEMENT, digests, idempotency_keys)
    return [_judged(row, digest) for row, digest in zip(rows, digests, strict=True)]


def refusal(row: Any) -> ApiError | None:
    """Judge a row of JUDGED: why its key may not use the Task API now; None where it may."""
    if row.api_disabled:
        return ApiDisabled(headers={"Retry-After": DISABLED_RETRY_SECONDS})
    if unauthenticated := authentication.refusal(row):
        return unauthenticated
    if row.binding != "task":
        return GeneralKeyRefused()
    return None if row.task_api else ScopeRequired()


def _judged(row: Any, digest: str) -> Admission | ApiError:
    if refused := refusal(row):
        return refused
    authentication.remember(digest, row)
    return Admission(
        caller=_caller(row),
        service=Service(
            is_paused=bool(row.paused),
            message=row.message,
            retry_after_seconds=row.retry_after_seconds,
            catalog_version=row.version,
        ),
        replay=Replay(task_id=row.task_id, body_digest=row.body_digest) if row.task_id else None,
    )


# What `refusal` judges, of the service (s), a secret (ks) and its key (k).
JUDGED = "s.api_disabled, k.id AS key_id, k.binding, k.task_api, {valid} AS is_valid"
# The knocks are spelled out, so that the planner knows how few they are; and a join to the tasks might read them all.
# Nothing analyses tables of one row, which PostgreSQL takes for hundreds.
STATEMENT = f"""
SELECT r.column1 AS n, {JUDGED}, s.paused, s.message, s.retry_after_seconds, c.version,
       ks.id AS secret_id, a.id AS account_id, a.billing, a.balance_micros, a.held_micros, k.videos_api, k.max_queued,
       (SELECT t.id FROM tasks_task t WHERE t.key_id = k.id AND t.idempotency_key = r.column3) AS task_id,
       (SELECT t.body_digest FROM tasks_task t WHERE t.key_id = k.id AND t.idempotency_key = r.column3) AS body_digest
FROM (VALUES {{knocks}}) AS r
CROSS JOIN (SELECT * FROM tasks_servicestate LIMIT 1) s CROSS JOIN (SELECT * FROM catalog_catalogversion LIMIT 1) c
{{keys}}
"""


def _caller(row: Any) -> Caller:
    return Caller(
        key_id=row.key_id,
        secret_id=row.secret_id,
        account_id=row.account_id,
        is_subscription=row.billing == "subscription",
        balance_micros=row.balance_micros,
        held_micros=row.held_micros,
        max_queued=row.max_queued,
        has_videos=bool(row.videos_api),
    )
