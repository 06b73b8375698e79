"""Authenticates presented secrets: whose one is, whether it opens anything, and what a request of the Task API needs to
know of its key, account and service. One statement for all requests of a batch, always the first of a request.

Nothing of a key is cached, so what a command or the admin changes holds from the next request on. Whose a secret is, a
process remembers for shares and counts alone (`holder_of`): that admits nobody.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

from common import sql
from common.bounded_cache import BoundedCache
from common.errors import ApiDisabled, ApiError, ApiPaused, AuthenticationError, GeneralKeyRefused, ScopeRequired

BEARER = re.compile(r"Bearer +([\x21-\x7e]+)", re.IGNORECASE)
DISABLED_RETRY_SECONDS = "60"  # on every path: SDKs of others are never told more
MOST_HOLDERS = 10_000


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
    """What the statement found for a request whose key may use the Task API."""

    caller: Caller
    service: Service
    replay: Replay | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The digest of a presented secret, empty where there is none, and the request's Idempotency-Key where that is a
    valid one."""

    digest: str
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The key and the account of a secret; neither changes while the secret exists."""

    key_id: int
    account_id: int


_holders: BoundedCache[str, Holder] = BoundedCache(MOST_HOLDERS)


def digest(secret: str) -> str:
    """Digest a secret, to look it up: SHA-256 in hex. 256 random bits need no salt, and SECRET_KEY may change
    freely."""
    return hashlib.sha256(secret.encode()).hexdigest()


def digest_of(authorization: str | None) -> str:
    """Digest the secret of a raw Authorization header; empty where there is none."""
    match = BEARER.fullmatch(authorization or "")
    return digest(match[1]) if match else ""


def remember(digest: str, *, key_id: int, account_id: int) -> None:
    """Remember whose secret it is, once its request was admitted."""
    _holders.put(digest, Holder(key_id=key_id, account_id=account_id))


def holder_of(digest: str) -> Holder | None:
    """Find whose secret it is; None for one that has not opened here yet, or is none."""
    return _holders.get(digest)


def forget_holders() -> None:
    """Begin as a new process does; ids repeat where tests roll back."""
    _holders.clear()


def admit(authorization: str | None, *, idempotency_key: str | None = None) -> Admission:
    """Authenticate a request of the Task API by its raw Authorization header.

    Raises ApiDisabled, AuthenticationError, ScopeRequired, in this order; the 401 is the same for every cause.
    """
    return admit_secret(digest_of(authorization), idempotency_key=idempotency_key)


def admit_secret(digest: str, *, idempotency_key: str | None = None) -> Admission:
    """Authenticate a request whose secret was presented before, by its digest. Raises what `admit` raises."""
    (found,) = admit_all([Credentials(digest=digest, idempotency_key=idempotency_key)])
    if isinstance(found, ApiError):
        raise found
    return found


def admit_all(asked: Sequence[Credentials]) -> list[Admission | ApiError]:
    """Authenticate many requests in one statement: for each its admission, or what `admit` raises."""
    digests = [credentials.digest for credentials in asked]
    rows = looked_up(STATEMENT, digests, [credentials.idempotency_key for credentials in asked])
    return [task_refusal(row) or _admission(row, digest) for row, digest in zip(rows, digests, strict=True)]


def task_refusal(row: Any) -> ApiError | None:
    """Judge a row of JUDGED: why its key may not use the Task API now; None where it may."""
    if row.api_disabled:
        return ApiDisabled(headers={"Retry-After": DISABLED_RETRY_SECONDS})
    if unauthenticated := refusal(row):
        return unauthenticated
    if row.binding != "task":
        return GeneralKeyRefused()
    return None if row.task_api else ScopeRequired()


def refusal(row: Any) -> AuthenticationError | None:
    """Judge a row that has `key_id` and `is_valid`: the 401, the same for every cause, or None for a key that opens."""
    if row.key_id is None or not row.is_valid:
        return AuthenticationError(headers={"WWW-Authenticate": "Bearer"})
    return None


def paused(service: Service) -> ApiPaused:
    """Make the error that is told, with the operator's message, while no new tasks are taken."""
    return ApiPaused(service.message, headers={"Retry-After": str(service.retry_after_seconds)})


def is_valid() -> str:
    """Make the SQL condition that a secret (ks) of a key (k) opens something now."""
    return VALID.format(now=sql.now())


def looked_up(statement: str, *columns: Sequence[Any]) -> list[Any]:
    """Run one statement for many requests: a row for each, with its number `n`, in their order. Of the columns that the
    requests bring, the first are the digests of their secrets.

    The statement says `{requests}` for the requests, which it calls `r`, `{keys}` for the joins to secret (ks), key (k)
    and account (a), and `{valid}` for the condition."""
    requests = list(zip(*columns, strict=True))
    asked = _asked(statement, len(requests), len(columns))
    return sorted(sql.records(asked, [value for request in requests for value in request]), key=attrgetter("n"))


@lru_cache(maxsize=500)
def _asked(statement: str, count: int, columns: int) -> str:
    values = ", ".join(["%s"] * columns)
    requests = ", ".join(f"({n}, {values})" for n in range(count))
    joins = KEYS.format(secrets=LATERAL if sql.is_postgresql() else "accounts_keysecret")
    return statement.format(requests=requests, keys=joins, valid=is_valid())


def _admission(row: Any, digest: str) -> Admission:
    remember(digest, key_id=row.key_id, account_id=row.account_id)
    return Admission(
        caller=Caller(
            key_id=row.key_id,
            secret_id=row.secret_id,
            account_id=row.account_id,
            is_subscription=row.billing == "subscription",
            balance_micros=row.balance_micros,
            held_micros=row.held_micros,
            max_queued=row.max_queued,
            has_videos=bool(row.videos_api),
        ),
        service=Service(
            is_paused=bool(row.paused),
            message=row.message,
            retry_after_seconds=row.retry_after_seconds,
            catalog_version=row.version,
        ),
        replay=Replay(task_id=row.task_id, body_digest=row.body_digest) if row.task_id else None,
    )


VALID = """k.disabled_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now})
    AND (ks.retired_at IS NULL OR ks.retired_at > {now})"""
# A secret that is nobody's is answered, too.
KEYS = """LEFT JOIN {secrets} ks ON ks.digest = r.column2
LEFT JOIN accounts_apikey k ON k.id = ks.key_id
LEFT JOIN accounts_account a ON a.id = k.account_id"""
# Digests lie scattered, so that PostgreSQL would rather read all of them than ten by their index.
LATERAL = "LATERAL (SELECT * FROM accounts_keysecret WHERE digest = r.column2 LIMIT 1)"
# What `task_refusal` judges, of the service (s), a secret (ks) and its key (k).
JUDGED = "s.api_disabled, k.id AS key_id, k.binding, k.task_api, {valid} AS is_valid"
# The requests are spelled out, so that the planner knows how few they are; and a join to the tasks might read them all.
# Nothing analyses tables of one row, which PostgreSQL takes for hundreds.
STATEMENT = f"""
SELECT r.column1 AS n, {JUDGED}, s.paused, s.message, s.retry_after_seconds, c.version,
       ks.id AS secret_id, a.id AS account_id, a.billing, a.balance_micros, a.held_micros, k.videos_api, k.max_queued,
       (SELECT t.id FROM tasks_task t WHERE t.key_id = k.id AND t.idempotency_key = r.column3) AS task_id,
       (SELECT t.body_digest FROM tasks_task t WHERE t.key_id = k.id AND t.idempotency_key = r.column3) AS body_digest
FROM (VALUES {{requests}}) AS r
CROSS JOIN (SELECT * FROM tasks_servicestate LIMIT 1) s CROSS JOIN (SELECT * FROM catalog_catalogversion LIMIT 1) c
{{keys}}
"""
