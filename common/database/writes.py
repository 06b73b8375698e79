"""Several writes as one statement on PostgreSQL: a round trip, and not one for each table.

There none sees what another has written, and their order is open; on SQLite they follow each other.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from common import sql


class Write(NamedTuple):
    statement: str
    parameters: Sequence[Any]


def of_rows(statement: str, columns: str, items: Sequence[Any]) -> list[Write]:
    """The write that says `{rows}` where it reads these rows (`sql.rows`), as `r`; none where there are none."""
    return [Write(statement.format(rows=sql.rows(columns)), [sql.pack(items)])] if items else []


def run(writes: Sequence[Write]) -> list[tuple[Any, ...]]:
    """What the last one returns."""
    returned: list[tuple[Any, ...]] = []
    if sql.is_postgresql() and len(writes) > 1:
        parts = ", ".join(f"write_{number} AS ({write.statement})" for number, write in enumerate(writes[:-1]))
        parameters = [each for write in writes for each in write.parameters]
        return sql.fetch(f"WITH {parts} {writes[-1].statement}", parameters)
    for write in writes:
        returned = sql.fetch(write.statement, write.parameters)
    return returned
