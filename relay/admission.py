"""Authenticates the general keys that call companion endpoints and finds each key's group, in one statement.

Requests that arrive while a statement runs are batched into the next one. Nothing about a key is cached, so changes by
a command or the admin take effect with the next request.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from accounts import authentication
from catalog import snapshot
from catalog.groups import GroupEntry
from catalog.snapshot import Catalog
from common.concurrency import promises, threads
from common.concurrency.gathering import Gathering
from common.errors import ApiError, PermissionRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayCaller:
    """A general key as the database had it when this request was authenticated."""

    key_id: int
    account_id: int
    is_subscription: bool
    catalog_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayAdmission:
    """An authenticated key with what its group offers. A key without a group can only list models and read its
    usage."""

    caller: RelayCaller
    group: GroupEntry | None


async def admit(authorization: str) -> RelayAdmission:
    """Authenticates a general key; the rest of the request uses threads from its account's share.

    Raises AuthenticationError, with one message for every cause, and PermissionRefused for a Task key.
    """
    share = threads.share.get()
    admission = await promises.awaited(_batcher.add(authorization, payer=share.payer, member=share.member))
    threads.share.set(threads.of_account(admission.caller.account_id))
    return admission


def admit_all(authorizations: Sequence[str]) -> list[RelayAdmission | ApiError]:
    """Returns for each raw Authorization header what `admit` returns or raises; one statement unless the catalog
    changed."""
    digests = [authentication.digest_of(authorization) for authorization in authorizations]
    rows = authentication.looked_up(STATEMENT, digests)
    catalog = snapshot.current(rows[0].version)
    return [_judged(row, digest, catalog) for row, digest in zip(rows, digests, strict=True)]


def _judged(row: Any, digest: str, catalog: Catalog) -> RelayAdmission | ApiError:
    if unauthenticated := authentication.refusal(row):
        return unauthenticated
    if row.binding != "general":
        return PermissionRefused()
    authentication.remember(digest, key_id=row.key_id, account_id=row.account_id)
    group = None if row.group_id is None else catalog.group(row.group_id)
    return RelayAdmission(caller=_caller(row), group=group)


def _caller(row: Any) -> RelayCaller:
    return RelayCaller(
        key_id=row.key_id,
        account_id=row.account_id,
        is_subscription=row.billing == "subscription",
        catalog_version=row.version,
    )


# VALUES tells the planner how many rows there are; LIMIT 1, that the version table has one row
# (`accounts/authentication.py`).
STATEMENT = """
SELECT r.column1 AS n, c.version, k.id AS key_id, k.group_id, k.binding, a.id AS account_id, a.billing,
       {valid} AS is_valid
FROM (VALUES {requests}) AS r
CROSS JOIN (SELECT * FROM catalog_catalogversion LIMIT 1) c
{keys}
"""

_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="relay-admission")
_batcher: Gathering[str, RelayAdmission] = Gathering(
    partial(threads.returning_connection, admit_all), start=_thread.submit
)
