"""Parser of a provider's CSV file, which detects encoding, delimiter and head. Pure."""

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

MOST_BYTES = 2 * 1024 * 1024
MOST_ROWS = 20_000
MOST_COLUMNS = 100
LONGEST_CELL = 2_000
DELIMITERS = ",;\t|"
MARKED = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class UnreadableTable(Exception):
    """Raised for a file that is no table; the message tells the operator why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """Row of a table; `line` is the file's line in which it ends, counted from 1."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    head: tuple[str, ...]
    rows: tuple[TableRow, ...]


def read(content: bytes) -> Table:
    """Parse a file. Empty rows are skipped; the head is the first row with two or more cells. Raises
    UnreadableTable."""
    if len(content) > MOST_BYTES:
        raise UnreadableTable(f"The file is larger than {MOST_BYTES // 1024 // 1024} MiB: split it by weeks.")
    text = _text(content)
    rows = [row for row in _rows(text, _delimiter(text)) if any(row.cells)]
    while rows and len([cell for cell in rows[0].cells if cell]) < 2:
        rows.pop(0)  # a title above the table
    if not rows:
        raise UnreadableTable("No row with two columns was found: is it a CSV file?")
    if len(rows[0].cells) > MOST_COLUMNS:
        raise UnreadableTable(f"The table has more than {MOST_COLUMNS} columns.")
    if len(rows) == 1:
        raise UnreadableTable("There is no row below the column names.")
    return Table(head=rows[0].cells, rows=tuple(rows[1:]))


def _text(content: bytes) -> str:
    """Decode UTF-8 or UTF-16 by their marks, else UTF-8, else Windows-1252, which decodes almost anything."""
    encodings = [encoding for mark, encoding in MARKED if content.startswith(mark)] or ["utf-8", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise UnreadableTable("The file is not text: export the bill as CSV, in UTF-8 if you can choose.")


def _delimiter(text: str) -> str:
    """Guess the delimiter that splits most of the first lines into the same number of cells."""
    lines = [line for line in text[:20_000].splitlines()[:20] if line.strip()]

    def evenness(delimiter: str) -> tuple[int, int]:
        widths = [len(cells) for cells in csv.reader(lines, delimiter=delimiter)]
        widest = max(widths, default=1)
        return (widths.count(widest) if widest > 1 else 0, widest)

    try:
        return max(DELIMITERS, key=evenness)
    except csv.Error:
        return ","


def _rows(text: str, delimiter: str) -> Iterator[TableRow]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for number, cells in enumerate(reader):
            if number > MOST_ROWS:
                raise UnreadableTable(f"The file has more than {MOST_ROWS:,} rows: split it by weeks.")
            if any(len(cell) > LONGEST_CELL for cell in cells):
                raise UnreadableTable(f"Line {reader.line_num} has a cell of more than {LONGEST_CELL:,} characters.")
            yield TableRow(line=reader.line_num, cells=tuple(cell.strip() for cell in cells))
    except csv.Error as error:
        raise UnreadableTable(f"Line {reader.line_num} is not CSV: {error}.") from error
