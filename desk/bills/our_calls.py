"""Reader of a channel's paid calls around a bill's period, in pages. No index covers channel or time: calls are read by
id, which follows time, so a period with too many calls is refused."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from common import sql
from common.database import id_ranges
from common.database.id_ranges import GrowingTable
from desk.bills.matching import OurCall

CALLS = GrowingTable(table="tasks_call", at="created_at")
PAGE = 5_000
MOST_CALLS = 1_000_000
"""Limit on calls of all channels around a bill's period."""
EARLIER = timedelta(days=2)
LATER = timedelta(days=1)
BOUGHT = ("succeeded", "copy_failed", "late")
ENDED = ("done", "lost")


class TooManyCalls(Exception):
    """Raised when the period holds more calls than can be compared at once."""


def around(channel_id: int, since: datetime, until: datetime) -> Iterator[list[OurCall]]:
    """Yield the calls of the period and shortly before and after it, in id order. Raises TooManyCalls."""
    last = id_ranges.before(CALLS, since - EARLIER)
    high = id_ranges.after(CALLS, until + LATER)
    if high - last > MOST_CALLS:
        raise TooManyCalls
    statement = STATEMENT.format(
        id=_member("handle", "id"), kind=_member("outcome", "kind"), resolved=_member("outcome", "resolved")
    )
    while page := sql.records(statement, [last, high, channel_id, PAGE]):
        yield [_call(row) for row in page]
        last = page[-1].id


def _member(column: str, name: str) -> str:
    """Build the SQL expression of a text member of a JSON column; "" if it is missing."""
    return f"COALESCE({sql.json_text(f'c.{column}', name)}, '')"


def _call(row: Any) -> OurCall:
    made_something = row.kind in BOUGHT or (row.cost_micros or 0) > 0
    was_written_off = row.resolved != "" and not row.upstream_id
    return OurCall(
        id=row.id,
        upstream_id=row.upstream_id,
        cost_micros=row.cost_micros,
        is_bought=row.state in ENDED and made_something and not was_written_off,
        is_unknown=row.state == "unknown" and not row.resolved,
        created_at=sql.as_moment(row.created_at),
    )


STATEMENT = """
SELECT c.id, c.state, {id} AS upstream_id, {kind} AS kind, {resolved} AS resolved, c.cost_micros, c.created_at
FROM tasks_call c WHERE c.id > %s AND c.id < %s AND c.channel_id = %s ORDER BY c.id LIMIT %s
"""
