"""The ledger's entries of one key: the charges and refunds of its tasks. Credits are the account's, and not here.

The ledger knows accounts, and tasks know their keys: so the account's entries of a span are read by their ids, and of
each its task.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.authentication import Caller
from billing import ledger_ids
from common import sql

PAGE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentEntry:
    """A charge or a refund. `spent_micros` is what the key spent by it, in micro-USD: below zero for a refund."""

    at: datetime
    kind: str
    task_id: str
    model: str
    modality: str
    spent_micros: int


def within(caller: Caller, start: datetime, end: datetime) -> list[Any]:
    """The parameters of WITHIN: entries from a moment on, and before another."""
    low, high = ledger_ids.around(start, end)
    return [caller.account_id, low, high, sql.moment(start), sql.moment(end), caller.key_id]


def lines(caller: Caller, start: datetime, end: datetime) -> Iterator[SpentEntry]:
    """All of them in the order of the ledger, read a page at a time."""
    account_id, last, *others = within(caller, start, end)
    statement = LINES.format(time=_time(), model="", order="ASC")
    while page := sql.records(statement, [account_id, last, *others, PAGE]):
        yield from map(_entry, page)
        last = page[-1].id


def latest(
    caller: Caller, start: datetime, end: datetime, *, model: str = "", most: int, passed: int = 0
) -> list[SpentEntry]:
    """The latest of them after so many that are passed over, of one model where it is named."""
    narrowed, parameters = ("AND t.model_name = %s", [model]) if model else ("", [])
    statement = LINES.format(time=_time(), model=narrowed, order="DESC") + " OFFSET %s"
    return [_entry(row) for row in sql.records(statement, [*within(caller, start, end), *parameters, most, passed])]


def _time() -> str:
    """The moment as an SQL expression of a text, which `sql.as_moment` reads."""
    return "CAST(e.at AS text)" if sql.is_postgresql() else "e.at"


def _entry(row: Any) -> SpentEntry:
    return SpentEntry(
        at=sql.as_moment(row.at),
        kind=row.kind,
        task_id=row.reference,
        model=row.model_name,
        modality=row.modality,
        spent_micros=-row.amount_micros,
    )


WITHIN = """billing_ledgerentry e JOIN tasks_task t ON t.id = e.reference
WHERE e.account_id = %s AND e.id > %s AND e.id < %s AND e.at >= %s AND e.at < %s AND t.key_id = %s"""
LINES = f"""
SELECT e.id, {{time}} AS at, e.kind, e.reference, t.model_name, t.modality, e.amount_micros
FROM {WITHIN} {{model}} ORDER BY e.id {{order}} LIMIT %s
"""
