"""Who calls a companion endpoint: general keys alone, with their group, in one statement that is the request's first.

Requests that come while a statement lets others in share the next one. Nothing of a key is cached, so what a command or
the admin changes holds from the next request on. Whom a key belonged to is remembered, to save that statement: such a
caller is only presumed, and the statement that holds the money of his call asks whether he is let in (ENTITLED).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from accounts import holders
from accounts.holders import Holder
from catalog import snapshot
from catalog.groups import GroupEntry
from catalog.snapshot import Catalog
from common import sql
from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.errors import ApiError, AuthenticationError, PermissionRefused
from relay import presumption
from relay.presumption import Presumption
from tasks import gate


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayCaller:
    """A general key as of this request. `digest` is that of its secret, where it may be presumed the next time;
    `presumption` is None for who was let in."""

    key_id: int
    account_id: int
    is_subscription: bool
    catalog_version: int
    digest: str = field(default="", compare=False)
    presumption: Presumption | None = field(default=None, compare=False)


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


def presumed(authorization: str) -> RelayAdmission | None:
    """Who this secret belonged to when a call of his was last opened, in the picture of the catalog that is here. Asks
    nobody; None for who is not known."""
    digest = gate.digest_of(authorization)
    known, catalog = presumption.find(digest), snapshot.kept()
    if known is None or catalog is None:
        return None
    threads.share.set(threads.of_account(known.account_id))
    caller = RelayCaller(
        key_id=known.key_id,
        account_id=known.account_id,
        is_subscription=False,
        catalog_version=catalog.version,
        presumption=Presumption(digest),
    )
    return RelayAdmission(caller=caller, group=catalog.group(known.group_id))


def admit_all(knocks: Sequence[str]) -> list[RelayAdmission | ApiError]:
    """For each raw Authorization what `admit` gives or raises. One statement, where the catalog has not moved."""
    digests = [gate.digest_of(authorization) for authorization in knocks]
    rows = gate.looked_up(STATEMENT, digests)
    catalog = snapshot.current(rows[0].version)
    return [_judged(row, digest, catalog) for row, digest in zip(rows, digests, strict=True)]


def _judged(row: Any, digest: str, catalog: Catalog) -> RelayAdmission | ApiError:
    if row.key_id is None or not row.is_valid:
        return AuthenticationError(headers={"WWW-Authenticate": "Bearer"})
    if row.binding != "general":
        return PermissionRefused()
    holders.remember(digest, Holder(key_id=row.key_id, account_id=row.account_id))
    group = None if row.group_id is None else catalog.group(row.group_id)
    return RelayAdmission(caller=_caller(row, digest), group=group)


def _caller(row: Any, digest: str) -> RelayCaller:
    may_be_presumed = sql.is_postgresql() and not row.has_budgets
    return RelayCaller(
        key_id=row.key_id,
        account_id=row.account_id,
        is_subscription=row.billing == "subscription",
        catalog_version=row.version,
        digest=digest if may_be_presumed else "",
    )


# As in `tasks/gate.py`: the knocks are spelled out for the planner, and the table of one row is said to have no more.
STATEMENT = """
SELECT r.column1 AS n, c.version, k.id AS key_id, k.group_id, k.binding, a.id AS account_id, a.billing,
       a.has_budgets, {valid} AS is_valid
FROM (VALUES {knocks}) AS r
CROSS JOIN (SELECT * FROM catalog_catalogversion LIMIT 1) c
{keys}
"""

_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="relay-admission")
_knocks: Gathering[str, RelayAdmission] = Gathering(
    partial(threads.returning_connection, admit_all), start=_thread.submit
)
