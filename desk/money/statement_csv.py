"""Statement as a CSV file: one line per entry, with the balance after it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from django.utils import timezone

from common.months import Month
from desk.money import statement
from desk.money.statement import Booking
from pages import csv_text
from pages.csv_text import Cell

HEAD = ("time", "kind", "reference", "model", "key", "reason", "amount_usd", "balance_usd")


def lines(account_id: int, month: Month) -> Iterator[str]:
    """Yield the lines while reading the ledger, so that memory stays bounded."""
    opening = statement.opening_micros(account_id, month)
    yield from csv_text.rows(table(month, opening, statement.lines(account_id, month), now=timezone.now()))


def table(
    month: Month, opening_micros: int, bookings: Iterable[Booking], *, now: datetime
) -> Iterator[tuple[Cell, ...]]:
    """Build the table; a running month ends with the balance now."""
    balance = opening_micros
    yield HEAD
    yield (_written(month.start), "opening balance", "", "", "", "", "", csv_text.amount(balance))
    for each in bookings:
        balance += each.amount_micros
        texts = (_written(each.at), each.kind, each.reference, each.model, each.key, each.reason)
        yield (*texts, csv_text.amount(each.amount_micros), csv_text.amount(balance))
    last = "balance now" if now < month.end else "closing balance"
    yield (_written(min(now, month.end)), last, "", "", "", "", "", csv_text.amount(balance))


def _written(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
