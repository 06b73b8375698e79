"""Where in a table that only grows a moment lies. No index has its moments: rows get their ids in the order in which
they are written, and so a few look-ups by id find the place."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from common import sql


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingTable:
    """A table, and its column of the moment at which a row was written."""

    table: str
    at: str


# How far the database's clock may be set back, or a row's transaction may last, and nothing is missed.
SLACK = timedelta(days=1)
FIRST = """
WITH RECURSIVE search(low, high) AS (
    SELECT CAST(1 AS bigint), CAST(COALESCE(max(id), 0) + 1 AS bigint) FROM {table}
    UNION ALL
    SELECT CASE WHEN e.{at} < {moment} THEN e.id + 1 ELSE s.low END,
        CASE WHEN e.{at} < {moment} THEN s.high ELSE (s.low + s.high) / 2 END
    FROM search s JOIN {table} e ON e.id = (SELECT min(n.id) FROM {table} n WHERE n.id >= (s.low + s.high) / 2)
    WHERE s.low < s.high
)
SELECT min(high) FROM search
"""


def before(log: GrowingTable, moment: datetime) -> int:
    """An id below those of all rows from this moment on, and not much below. One statement."""
    return _first(log, moment - SLACK) - 1


def after(log: GrowingTable, moment: datetime) -> int:
    """An id above those of all rows up to this moment, and not much above. One statement."""
    return _first(log, moment + SLACK)


def _first(log: GrowingTable, moment: datetime) -> int:
    """The id of the first row that is not older; one more than the last id where all are."""
    mark = "CAST(%s AS timestamptz)" if sql.is_postgresql() else "%s"
    statement = FIRST.format(table=log.table, at=log.at, moment=mark)
    return int(sql.value(statement, [sql.moment(moment)] * 2))
