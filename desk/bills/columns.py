"""Which column of a provider's bill means what, and the lines that a table holds by that. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.kit.jobs import LONGEST_ID
from common import documents
from desk.bills import cells
from desk.bills.tables import Table, TableRow

LONGEST_MODEL = 200
# What providers call them, the likeliest first; a name matches where it is all of the column's, or part of it.
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
    """Names of columns as the table's head has them; "" for what it has not. `unit` is one of `cells.UNITS`, `mark` the
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
        """Whether a table has them all."""
        return set(self.names) <= set(head)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLine:
    """What the provider bills for one job; there may be several for one. Money in micro-USD."""

    line: int
    upstream_id: str
    amount_micros: int
    at: datetime | None
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """A row that is no line of a bill, and why."""

    line: int
    why: str


def stored(document: object) -> BillColumns:
    """As they were remembered. Raises Unreadable."""
    return documents.read(BillColumns, document)


def guessed(head: Sequence[str]) -> BillColumns:
    """By the names that columns usually have; "" where none looks like it."""
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
    """Those that can be read, and the others. The columns fit the table."""
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
