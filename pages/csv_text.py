"""CSV that a spreadsheet opens as it was meant: texts stay texts, and numbers stay numbers. Pure."""

import csv
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from pages import words

# What a spreadsheet takes for the beginning of a formula, also in the forms of full width, and what it skips before.
DANGEROUS = tuple("=+-@\t\r\n＝＋－＠")
# Where numbers are written with a comma, a spreadsheet parts cells by semicolons, and passes over quotes: then the rest
# of a text is a cell of its own, or a row.
INNER = re.compile(r'([;\t\r\n][\s"\ufeff]*)(?=[=+\-@＝＋－＠])')
Cell = str | int | Decimal


class _Echo:
    """A file whose `write` gives back what it was told."""

    def write(self, text: str) -> str:
        return text


def rows(table: Iterable[Iterable[Cell]]) -> Iterator[str]:
    """The lines of a CSV file, each with its end."""
    writer = csv.writer(_Echo())
    for row in table:
        yield writer.writerow([written(cell) for cell in row])


def written(cell: Cell) -> str:
    """A text that would begin a formula gets an apostrophe before that. What is a number here is written as it is."""
    if not isinstance(cell, str):
        return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)
    mark = "'" if cell.lstrip(" \u00a0\u3000\ufeff").startswith(DANGEROUS) else ""
    return mark + INNER.sub(r"\1'", cell)


def amount(micros: int) -> Decimal:
    """Micro-USD as USD with at least two decimals, and as many as it has."""
    return Decimal(words.decimal(micros))
