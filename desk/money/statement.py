"""Monthly statement of an account: opening balance, movements and closing balance.

Everything is read from the ledger. A month holds the entries written in it, by the ledger's `at` in UTC.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from billing import ledger_ids
from common import ids, sql
from common.database import id_ranges
from common.months import Month

MOST_BOOKINGS = 500
PAGE = 2_000
TASK, RELAYED = "task", "relayed call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charges:
    """Charges of one day (`2026-11-21`) and model; `amount_micros` moves the balance, so it is negative."""

    day: str
    model: str
    subject: str
    count: int
    amount_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """Ledger entry of the account: a credit, refund or charge."""

    at: datetime
    kind: str
    reference: str
    model: str
    key: str
    reason: str
    amount_micros: int

    @property
    def task(self) -> bool:
        """Check whether the reference is a task id."""
        return ids.is_task_id(self.reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthStatement:
    """Statement of a month in micro-USD. `bookings` are the latest MOST_BOOKINGS entries except charges; sums cover
    all."""

    month: Month
    opening_micros: int
    sums: Mapping[str, int]
    counts: Mapping[str, int]
    charges: tuple[Charges, ...]
    bookings: tuple[Booking, ...]

    @property
    def closing_micros(self) -> int:
        return self.opening_micros + sum(self.sums.values())

    @property
    def is_empty(self) -> bool:
        return not self.counts

    @property
    def unlisted(self) -> int:
        """Count the bookings beyond the listed ones."""
        return sum(count for kind, count in self.counts.items() if kind != "charge") - len(self.bookings)


def read(account_id: int, month: Month) -> MonthStatement:
    """Read the statement consistently despite concurrent writes: one SQL statement after two look-ups."""
    low, high = ledger_ids.around(month.start, month.end)
    start, end = sql.moment(month.start), sql.moment(month.end)
    within = [account_id, low, high, start, end]
    rows = sql.records(
        STATEMENT.format(day=sql.utc_day("e.at"), time=_time("e.at"), most=MOST_BOOKINGS),
        [low, start, account_id, *within, *within],
    )
    parts: dict[str, list[Any]] = {"opening": [], "sum": [], "booking": []}
    for row in rows:
        parts[row.part].append(row)
    (opening,) = parts["opening"] or [None]
    return MonthStatement(
        month=month,
        opening_micros=int(opening.amount) if opening else 0,
        sums=_by_kind(parts["sum"], "amount"),
        counts=_by_kind(parts["sum"], "n"),
        charges=tuple(_charges(row) for row in parts["sum"] if row.kind == "charge"),
        bookings=tuple(map(_booking, parts["booking"])),
    )


def lines(account_id: int, month: Month) -> Iterator[Booking]:
    """Yield every entry of the month in ledger order, read in pages."""
    last, high = ledger_ids.around(month.start, month.end)
    start, end = sql.moment(month.start), sql.moment(month.end)
    while page := sql.records(LINES.format(time=_time("e.at"), most=PAGE), [account_id, last, high, start, end]):
        yield from map(_booking, page)
        last = page[-1].id


def sums(account_id: int, month: Month) -> dict[str, int]:
    """Sum the month's entries by kind, in micro-USD."""
    low, high = ledger_ids.around(month.start, month.end)
    within = [account_id, low, high, sql.moment(month.start), sql.moment(month.end)]
    rows = sql.fetch(
        f"SELECT e.kind, sum(e.amount_micros) FROM billing_ledgerentry e WHERE {WITHIN} GROUP BY 1", within
    )
    return {kind: int(micros) for kind, micros in rows}


def opening_micros(account_id: int, month: Month) -> int:
    """Compute the balance at the start of the month."""
    low = id_ranges.before(ledger_ids.LEDGER, month.start)
    found = sql.column(f"SELECT o.amount FROM ({OPENING}) o", [low, sql.moment(month.start), account_id])
    return int(found[0]) if found else 0


def _by_kind(rows: list[Any], column: str) -> dict[str, int]:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row.kind] = sums.get(row.kind, 0) + int(getattr(row, column))
    return sums


def _charges(row: Any) -> Charges:
    return Charges(day=row.day, model=row.model, subject=row.subject, count=int(row.n), amount_micros=int(row.amount))


def _booking(row: Any) -> Booking:
    return Booking(
        at=sql.as_moment(row.at),
        kind=row.kind,
        reference=row.reference,
        model=row.model,
        key=row.key,
        reason=row.reason,
        amount_micros=int(row.amount),
    )


def _time(moment: str) -> str:
    """Build the SQL expression of a time as text, for `sql.as_moment`."""
    return f"CAST({moment} AS text)" if sql.is_postgresql() else moment


# Computed backwards from the present balance, so the newest months, which are read most, are the cheapest.
OPENING = """
SELECT a.balance_micros - COALESCE((
    SELECT CAST(sum(e.amount_micros) AS bigint) FROM billing_ledgerentry e
    WHERE e.account_id = a.id AND e.id > %s AND e.at >= %s
), 0) AS amount
FROM accounts_account a WHERE a.id = %s
"""
ENTRIES = """
billing_ledgerentry e
    LEFT JOIN tasks_task t ON t.id = e.reference
    LEFT JOIN billing_relayedcall c ON c.id = e.reference
"""
MODEL = "COALESCE(t.model_name, c.model, '')"
WITHIN = "e.account_id = %s AND e.id > %s AND e.id < %s AND e.at >= %s AND e.at < %s"
SUBJECT = f"CASE WHEN c.id IS NULL THEN '{TASK}' ELSE '{RELAYED}' END"
STATEMENT = f"""
SELECT 'opening' AS part, '' AS day, '' AS at, '' AS kind, '' AS model, '' AS subject, '' AS reference, '' AS key,
    '' AS reason, 0 AS n, o.amount FROM ({OPENING}) o
UNION ALL SELECT 'sum', s.day, '', s.kind, s.model, s.subject, '', '', '', s.n, s.amount FROM (
    SELECT {{day}} AS day, e.kind, {MODEL} AS model, {SUBJECT} AS subject, count(*) AS n,
        CAST(sum(e.amount_micros) AS bigint) AS amount
    FROM {ENTRIES} WHERE {WITHIN} GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 3, 4
) s
UNION ALL SELECT 'booking', '', b.at, b.kind, b.model, '', b.reference, '', b.reason, 1, b.amount FROM (
    SELECT {{time}} AS at, e.kind, {MODEL} AS model, e.reference, e.reason, e.amount_micros AS amount
    FROM {ENTRIES} WHERE {WITHIN} AND e.kind <> 'charge' ORDER BY e.id DESC LIMIT {{most}}
) b
"""
LINES = f"""
SELECT e.id, {{time}} AS at, e.kind, {MODEL} AS model, e.reference, COALESCE(k.name, '') AS key, e.reason,
    e.amount_micros AS amount
FROM {ENTRIES} LEFT JOIN accounts_apikey k ON k.id = COALESCE(t.key_id, c.key_id)
WHERE {WITHIN} ORDER BY e.id LIMIT {{most}}
"""
