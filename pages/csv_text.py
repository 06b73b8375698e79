"""CSV writer that is safe for spreadsheets: texts stay texts, and numbers stay numbers. Pure."""

import csv
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from pages import words

# Characters that begin a formula in a spreadsheet, including full-width forms, and those that it skips before one.
DANGEROUS = tuple("=+-@\t\r\n＝＋－＠")
# With a decimal comma, spreadsheets separate cells by semicolons and ignore quotes: then the rest of a text becomes a
# cell or row of its own.
INNER = re.compile(r'([;\t\r\n][\s"\ufeff]*)(?=[=+\-@＝＋－＠])')
Cell = str | int | Decimal


class _Echo:
    """File whose `write` returns its argument."""

    def write(self, text: str) -> str:
        return text


def rows(table: Iterable[Iterable[Cell]]) -> Iterator[str]:
    """Yield the lines of a CSV file with line ends."""
    writer = csv.writer(_Echo())
    for row in table:
        yield writer.writerow([written(cell) for cell in row])


def written(cell: Cell) -> str:
    """Write a cell; a text that would begin a formula gets an apostrophe."""
    if not isinstance(cell, str):
        return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)
    mark = "'" if cell.lstrip(" \u00a0\u3000\ufeff").startswith(DANGEROUS) else ""
    return mark + INNER.sub(r"\1'", cell)


def amount(micros: int) -> Decimal:
    """Convert micro-USD to exact USD with at least two decimals."""
    return Decimal(words.decimal(micros))
