"""The statement of an account for one month: what it began with, every movement, and what it ended with.

All of it is read from the ledger. A month holds the entries that were written in it, by the ledger's `at` in UTC.
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
    """What was charged on one day (`2026-11-21`) for one model; `amount_micros` is what it moved, so below zero."""

    day: str
    model: str
    subject: str
    count: int
    amount_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A single entry of the account: a credit, a refund, or a charge where all are listed."""

    at: datetime
    kind: str
    reference: str
    model: str
    key: str
    reason: str
    amount_micros: int

    @property
    def task(self) -> bool:
        """Whether its reference is the id of a task."""
        return ids.is_task_id(self.reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthStatement:
    """`bookings` are the latest MOST_BOOKINGS of what is no charge; the sums are of all. Money in micro-USD."""

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
        """How many bookings there are beyond those that are listed."""
        return sum(count for kind, count in self.counts.items() if kind != "charge") - len(self.bookings)


def read(account_id: int, month: Month) -> MonthStatement:
    """One picture of the ledger, though others go on writing: all of it is one statement, after two look-ups."""
    low, high = ledger_ids.around(month.start, month.end)
    start, end = sql.moment(month.start), sql.moment(month.end)
    within = [account_id, low, high, start, end]
    rows = sql.records(
        PICTURE.format(day=sql.utc_day("e.at"), time=_time("e.at"), most=MOST_BOOKINGS),
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
    """Every entry of the month in the order of the ledger, read a page at a time."""
    last, high = ledger_ids.around(month.start, month.end)
    start, end = sql.moment(month.start), sql.moment(month.end)
    while page := sql.records(LINES.format(time=_time("e.at"), most=PAGE), [account_id, last, high, start, end]):
        yield from map(_booking, page)
        last = page[-1].id


def sums(account_id: int, month: Month) -> dict[str, int]:
    """Micro-USD by kind of entry: what the month moved so far."""
    low, high = ledger_ids.around(month.start, month.end)
    within = [account_id, low, high, sql.moment(month.start), sql.moment(month.end)]
    rows = sql.fetch(
        f"SELECT e.kind, sum(e.amount_micros) FROM billing_ledgerentry e WHERE {WITHIN} GROUP BY 1", within
    )
    return {kind: int(micros) for kind, micros in rows}


def opening_micros(account_id: int, month: Month) -> int:
    """The balance at the month's first moment."""
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
    """The moment as an SQL expression of a text, which `sql.as_moment` reads."""
    return f"CAST({moment} AS text)" if sql.is_postgresql() else moment


# What is spent since is given back: so the newest months, which are asked for most, cost least.
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
PICTURE = f"""
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
