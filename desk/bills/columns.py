"""Meaning of the columns of a provider's bill, and parsing of its lines. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.kit.jobs import LONGEST_ID
from common import documents
from desk.bills import cells
from desk.bills.tables import Table, TableRow

LONGEST_MODEL = 200
# Names that providers use, the likeliest first; a name matches a column in full or as one of its words.
NAMES = {
    "upstream_id": (
        "task_id",
        "job_id",
        "generation_id",
        "upstream_id",
        "request_id",
        "prediction",
        "task",
        "job",
        "id",
    ),
    "amount": ("amount", "cost", "total", "price", "charge", "credits", "usd"),
    "currency": ("currency",),
    "time": ("time", "created", "date", "started"),
    "model": ("model", "endpoint", "product", "sku"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BillColumns:
    """Names of the columns in the table's head, "" for one that it lacks. `unit` is one of `cells.UNITS`, `mark` the
    decimal mark."""

    upstream_id: str
    amount: str
    unit: str = "usd"
    mark: str = "."
    currency: str = ""
    time: str = ""
    model: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.upstream_id, self.amount, self.currency, self.time, self.model) if name)

    def fit(self, head: Sequence[str]) -> bool:
        """Check that a table has all of the columns."""
        return set(self.names) <= set(head)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLine:
    """Billed line of one job; a job may have several. Money in micro-USD."""

    line: int
    upstream_id: str
    amount_micros: int
    at: datetime | None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """Row that cannot be read as a line, and the reason."""

    line: int
    why: str


def stored(document: object) -> BillColumns:
    """Load remembered columns. Raises Unreadable."""
    return documents.read(BillColumns, document)


def guessed(head: Sequence[str]) -> BillColumns:
    """Guess the columns by their usual names; "" where none matches."""
    taken: set[str] = set()
    found = {field: _likeliest(names, [name for name in head if name], taken) for field, names in NAMES.items()}
    return BillColumns(**found)


def _likeliest(names: Sequence[str], head: Sequence[str], taken: set[str]) -> str:
    plain = {column: column.casefold().replace(" ", "_").replace("-", "_") for column in head if column not in taken}
    exact = [column for name in names for column in plain if plain[column] == name]
    partly = [column for name in names for column in plain if name in plain[column].split("_")]
    for column in (*exact, *partly):
        taken.add(column)
        return column
    return ""


def lines(table: Table, columns: BillColumns) -> tuple[list[ProviderLine], list[BadRow]]:
    """Parse the lines; return the readable ones and the others. The columns must fit the table."""
    places = {name: table.head.index(name) for name in columns.names}
    good: list[ProviderLine] = []
    bad: list[BadRow] = []
    for row in table.rows:
        try:
            good.append(_line(row, columns, {name: _cell(row, place) for name, place in places.items()}))
        except ValueError as error:
            bad.append(BadRow(line=row.line, why=str(error)))
    return good, bad


def _cell(row: TableRow, place: int) -> str:
    if place >= len(row.cells):
        raise ValueError(f"the row ends before column {place + 1}")
    return row.cells[place]


def _line(row: TableRow, columns: BillColumns, told: dict[str, str]) -> ProviderLine:
    upstream_id = told[columns.upstream_id]
    if not upstream_id:
        raise ValueError("the id of the job is missing")
    if len(upstream_id) > LONGEST_ID:
        raise ValueError(f"the id of the job has more than {LONGEST_ID:,} characters")
    if columns.currency and not cells.is_usd(told[columns.currency]):
        raise ValueError(f"“{told[columns.currency][:20]}” is not USD")
    return ProviderLine(
        line=row.line,
        upstream_id=upstream_id,
        amount_micros=cells.amount(told[columns.amount], unit=columns.unit, mark=columns.mark),
        at=cells.moment(told[columns.time]) if columns.time else None,
        model=told[columns.model][:LONGEST_MODEL] if columns.model else "",
    )
