"""Who calls a companion endpoint: general keys alone, with their group, in one statement that is the request's first.

Requests that come while a statement lets others in share the next one. Nothing of a key is cached, so what a command or
the admin changes holds from the next request on.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from accounts import holders
from accounts.holders import Holder
from catalog import snapshot
from catalog.groups import GroupEntry
from catalog.snapshot import Catalog
from common import promises, sql, threads
from common.errors import ApiError, AuthenticationError, PermissionRefused
from common.gathering import Gathering
from tasks import gate


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayCaller:
    """A general key as of this request; `secret_id` is the secret it presented. Money in micro-USD."""

    key_id: int
    secret_id: int
    account_id: int
    group_id: int | None
    is_subscription: bool
    balance_micros: int
    held_micros: int
    catalog_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayAdmission:
    """`group` is what the key's group is offered; a key without one may look at lists and its usage alone."""

    caller: RelayCaller
    group: GroupEntry | None


async def admit(authorization: str) -> RelayAdmission:
    """Let a general key in; for the rest of the request the threads are dealt by its account's share.

    Raises AuthenticationError, the same for every cause, and PermissionRefused for a Task key.
    """
    share = threads.share.get()
    admission = await promises.awaited(_knocks.add(authorization, payer=share.payer, member=share.member))
    threads.share.set(threads.of_account(admission.caller.account_id))
    return admission


def admit_all(knocks: Sequence[str]) -> list[RelayAdmission | ApiError]:
    """For each raw Authorization what `admit` gives or raises. One statement, where the catalog has not moved."""
    digests = [gate.digest_of(authorization) for authorization in knocks]
    rows = sql.records(
        STATEMENT.format(valid=gate.VALID.format(now=sql.now()), knocks=", ".join(["(%s, %s)"] * len(knocks))),
        [value for listed in enumerate(digests) for value in listed],
    )
    by_number = {row.n: row for row in rows}
    catalog = snapshot.current(rows[0].version)
    return [_judged(by_number[n], digest, catalog) for n, digest in enumerate(digests)]


def _judged(row: Any, digest: str, catalog: Catalog) -> RelayAdmission | ApiError:
    if row.key_id is None or not row.is_valid:
        return AuthenticationError(headers={"WWW-Authenticate": "Bearer"})
    if row.binding != "general":
        return PermissionRefused()
    holders.remember(digest, Holder(key_id=row.key_id, account_id=row.account_id))
    group = None if row.group_id is None else catalog.group(row.group_id)
    return RelayAdmission(caller=_caller(row), group=group)


def _caller(row: Any) -> RelayCaller:
    return RelayCaller(
        key_id=row.key_id,
        secret_id=row.secret_id,
        account_id=row.account_id,
        group_id=row.group_id,
        is_subscription=row.billing == "subscription",
        balance_micros=row.balance_micros,
        held_micros=row.held_micros,
        catalog_version=row.version,
    )


# As in `tasks/gate.py`: the knocks are spelled out for the planner, and the table of one row is said to have no more.
STATEMENT = """
SELECT r.column1 AS n, c.version, k.id AS key_id, ks.id AS secret_id, k.group_id, k.binding,
       a.id AS account_id, a.billing, a.balance_micros, a.held_micros, {valid} AS is_valid
FROM (VALUES {knocks}) AS r
CROSS JOIN (SELECT * FROM catalog_catalogversion LIMIT 1) c
LEFT JOIN accounts_keysecret ks ON ks.digest = r.column2
LEFT JOIN accounts_apikey k ON k.id = ks.key_id
LEFT JOIN accounts_account a ON a.id = k.account_id
"""

_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="relay-admission")
_knocks: Gathering[str, RelayAdmission] = Gathering(
    partial(threads.returning_connection, admit_all), start=_thread.submit
)
