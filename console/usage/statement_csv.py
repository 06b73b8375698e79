"""Statement of a key as a CSV file: one line per charge and refund of a month."""

from collections.abc import Iterable, Iterator
from datetime import UTC

from accounts.authentication import Caller
from common.months import Month
from console.usage import entries
from console.usage.entries import SpentEntry
from pages import csv_text
from pages.csv_text import Cell

HEAD = ("time", "kind", "task", "model", "modality", "spent_usd")


def lines(caller: Caller, month: Month) -> Iterator[str]:
    """Yield the lines while reading the ledger."""
    yield from csv_text.rows(table(entries.lines(caller, month.start, month.end)))


def table(rows: Iterable[SpentEntry]) -> Iterator[tuple[Cell, ...]]:
    yield HEAD
    for each in rows:
        at = f"{each.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        yield (at, each.kind, each.task_id, each.model, each.modality, csv_text.amount(each.spent_micros))
