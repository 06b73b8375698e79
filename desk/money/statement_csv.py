"""A statement as a CSV file: a line for each entry, with the balance after it."""

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
    """Read as they are written, so that a long month needs no memory."""
    opening = statement.opening_micros(account_id, month)
    yield from csv_text.rows(table(month, opening, statement.lines(account_id, month), now=timezone.now()))


def table(
    month: Month, opening_micros: int, bookings: Iterable[Booking], *, now: datetime
) -> Iterator[tuple[Cell, ...]]:
    """A month that still runs ends with what stands now."""
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
