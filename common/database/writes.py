"""Several writes as one statement on PostgreSQL: one round trip, and not one for each table.

On PostgreSQL no write sees what another has written, and their order is open; on SQLite they follow each other. Writes
may share their rows, which then travel once.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from common import sql

Items = Sequence[Mapping[str, Any]] | Sequence[str]
"""Rows as mappings, or packed ahead (`sql.packed`)."""


class Rows(NamedTuple):
    """Rows of these columns (`sql.rows`), packed as one parameter. `chosen` (PostgreSQL alone) are further parts of the
    statement: they read the rows as `given`, and make of some of them the table `chosen`, which is written instead."""

    columns: str
    parameter: str
    size: int
    chosen: str = ""


class Write(NamedTuple):
    """A statement that says `{rows}` where it reads these rows, as `r`."""

    statement: str
    rows: Rows


def packed(columns: str, items: Items) -> Rows:
    """Pack the items, at least one, for the writes that read them."""
    texts = [item if isinstance(item, str) else sql.packed(item) for item in items]
    return Rows(columns, f"[{','.join(texts)}]", len(texts))


def of_rows(statement: str, columns: str, items: Items) -> list[Write]:
    """Make the write of these rows; none where there are none."""
    return [Write(statement, packed(columns, items))] if items else []


def write_together(columns: str, items: Items, statements: Sequence[str]) -> list[tuple[Any, ...]]:
    """Run statements that read the same rows; what the first returns is returned."""
    rows = packed(columns, items)
    return run([Write(statement, rows) for statement in statements], returned=0)


def run(writes: Sequence[Write], *, returned: int = -1) -> list[tuple[Any, ...]]:
    """Run these writes; what the last, or another, returns is returned."""
    if sql.is_postgresql() and writes:
        tables = list(dict.fromkeys(write.rows for write in writes))
        shapes = tuple((table.columns, table.chosen, 1 << (table.size - 1).bit_length()) for table in tables)
        statements = tuple((write.statement, tables.index(write.rows)) for write in writes)
        return sql.fetch(
            _one_statement(shapes, statements, returned % len(writes)), [table.parameter for table in tables]
        )
    found = [sql.fetch(statement.format(rows=sql.rows(rows.columns)), [rows.parameter]) for statement, rows in writes]
    return found[returned] if found else []


@lru_cache(maxsize=500)
def _one_statement(
    tables: tuple[tuple[str, str, int], ...], statements: tuple[tuple[str, int], ...], returned: int
) -> str:
    """The one statement of PostgreSQL. It tells the planner how few rows there are, else that reads whole tables: in
    powers of two, for each text is planned anew."""
    parts, names = list[str](), list[str]()
    for number, (columns, chosen, most) in enumerate(tables):
        name = "given" if chosen else f"rows_{number}"
        parts.append(f"{name} AS MATERIALIZED (SELECT * FROM {sql.rows(columns)} LIMIT {most})")
        parts += [chosen] if chosen else []
        names.append("chosen" if chosen else name)
    written = [statement.format(rows=f"{names[number]} AS r") for statement, number in statements]
    main = written.pop(returned)
    parts += [f"write_{number} AS ({write})" for number, write in enumerate(written)]
    return f"WITH {', '.join(parts)} {main}"
