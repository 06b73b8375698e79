"""Relayed calls of callers who were let in before: whether they still are is asked by the statement that opens them.

It is one statement, and its own transaction, in place of a look at the key and a transaction after it. It waits for
nobody and refuses nobody: what it does not open goes the long way. PostgreSQL alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from billing import call_statements, relayed_calls
from billing.relayed_calls import NewCall
from common import sql


@dataclass(frozen=True, slots=True, kw_only=True)
class PresumedCall:
    """A call of whoever presents the secret of this digest, if he is who he was at this version of the catalog."""

    call: NewCall
    digest: str
    version: int

    @property
    def account_id(self) -> int:
        return self.call.account_id


def open_free(calls: Sequence[PresumedCall], entitled: str) -> set[str]:
    """Open calls and hold their money: the ids of those that it opened. `entitled` is the condition, in SQL, under
    which the caller of a row `given` (PRESUMED_COLUMNS) is let in.

    Whether it took place nobody knows where its answer is lost, and it may still come: `forestall` decides that.
    """
    rows = [{**relayed_calls.opening_row(each.call), "digest": each.digest, "version": each.version} for each in calls]
    opened = sql.write_together(
        call_statements.PRESUMED_COLUMNS, rows, call_statements.reserving(), chosen=_chosen(entitled)
    )
    return {call_id for (call_id,) in opened}


@cache
def _chosen(entitled: str) -> str:
    return call_statements.PRESUMED.format(entitled=entitled)


def forestall(calls: Sequence[NewCall]) -> None:
    """Calls that a lost statement has not opened by now, it never will: they are in the books as released. One
    statement, which waits for the lost one where that is at work; none for none."""
    if calls:
        rows = [relayed_calls.opening_row(call) for call in calls]
        sql.write_together(call_statements.NEW_COLUMNS, rows, call_statements.never_opening())
