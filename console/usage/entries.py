"""Ledger entries of one key: charges and refunds of its tasks, without the account's credits.

Entries name an account and tasks name a key, so the account's entries of a span are read by id and joined with tasks.
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
    """Charge or refund. `spent_micros` is the spending in micro-USD, negative for a refund."""

    at: datetime
    kind: str
    task_id: str
    model: str
    modality: str
    spent_micros: int


def within(caller: Caller, start: datetime, end: datetime) -> list[Any]:
    """Build the parameters of WITHIN for entries in a span."""
    low, high = ledger_ids.around(start, end)
    return [caller.account_id, low, high, sql.moment(start), sql.moment(end), caller.key_id]


def lines(caller: Caller, start: datetime, end: datetime) -> Iterator[SpentEntry]:
    """Yield all entries in ledger order, read in pages."""
    account_id, last, *others = within(caller, start, end)
    statement = LINES.format(time=_time(), model="", order="ASC")
    while page := sql.records(statement, [account_id, last, *others, PAGE]):
        yield from map(_entry, page)
        last = page[-1].id


def latest(
    caller: Caller, start: datetime, end: datetime, *, model: str = "", most: int, passed: int = 0
) -> list[SpentEntry]:
    """Read the latest entries after `passed` ones, of one model if it is given."""
    narrowed, parameters = ("AND t.model_name = %s", [model]) if model else ("", [])
    statement = LINES.format(time=_time(), model=narrowed, order="DESC") + " OFFSET %s"
    return [_entry(row) for row in sql.records(statement, [*within(caller, start, end), *parameters, most, passed])]


def _time() -> str:
    """Build the SQL expression of a time as text, for `sql.as_moment`."""
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
