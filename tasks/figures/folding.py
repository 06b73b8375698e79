"""The figures follow the events: the janitor adds up what has ended since, a batch of events at a time.

The cursor and the sums change in one transaction, guarded by where the cursor was. So each event is counted once, after
a crash and with any number of janitors. Only settled events are folded (`tasks/events/reader.py`); what the sums read
of them never changes, so it is read before that transaction, which holds nobody up.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, timedelta
from typing import Any

from django.db import transaction

from common import sql
from common.database import settling
from tasks.events.reader import Barrier
from tasks.figures import sums

BATCH = 2_000
KEPT_DAYS = 3
"""Minutes are kept for so many whole days before the present one."""
PRUNED = 1_000
"""With each batch, so many minutes that are no longer kept go."""


class Folding:
    """What one janitor knows: an id, and who must end before all ids up to it are settled."""

    def __init__(self) -> None:
        self._barrier: Barrier | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether there is more, to be folded now or once others have ended."""
        return self._barrier is not None

    def step(self) -> bool:
        """Fold the next batch; False where there was none. With nothing new it is one statement."""
        ((cursor, newest),) = sql.fetch(STANDING)
        if newest <= cursor:
            self._barrier = None
            return False
        if self._barrier is None:
            self._barrier = Barrier(top=newest, open=drawing())
        if self._barrier.open and self._barrier.open & drawing():
            return False
        until = sql.value(LAST_OF_BATCH, [cursor, self._barrier.top, BATCH])
        if until is None or until >= self._barrier.top:
            self._barrier = None
        return until is not None and fold(cursor, until)


def drawing() -> frozenset[str]:
    """The open transactions of others that have drawn an event's id; whoever folds has written none."""
    return settling.drawing("tasks_taskevent", others_only=True)


STANDING = """
SELECT COALESCE((SELECT last_event_id FROM tasks_figurecursor), 0),
    COALESCE((SELECT max(id) FROM tasks_taskevent), 0)
"""
LAST_OF_BATCH = """
SELECT max(id) FROM (SELECT id FROM tasks_taskevent WHERE id > %s AND id <= %s ORDER BY id LIMIT %s) batch
"""
EVENTS = "(SELECT id, task_id, status, at FROM tasks_taskevent WHERE id > %s AND id <= %s)"


def fold(after: int, until: int) -> bool:
    """Add the events between two ids, all settled, to the figures; False where somebody else has moved the cursor."""
    today = date.fromisoformat(sql.value(f"SELECT {sql.utc_day(sql.now())}"))
    since, tomorrow = ((today + timedelta(days=days)).isoformat() for days in (-KEPT_DAYS, 1))
    found = sql.records(sums.of_events(EVENTS), [after, until])
    rows = [{**row._asdict(), "at": sql.as_moment(row.at), "day": _day(row.at)} for row in found]
    with transaction.atomic():
        sql.run(BEGIN, [since])
        # A clock that was ahead has left a day that is to come: minutes are whole again from tomorrow on.
        kept = sql.greatest(sql.least("minutes_since", "%s"), "%s")
        if not sql.run(MOVE.format(since=kept), [until, tomorrow, since, after]):
            return False
        _add("tasks_minutefigure", "r.at", [row for row in rows if row["day"] >= since])
        _add("tasks_dayfigure", "CAST(r.day AS date)" if sql.is_postgresql() else "r.day", rows)
        sql.run(PRUNE, [PRUNED])
    return True


BEGIN = """
INSERT INTO tasks_figurecursor (id, last_event_id, minutes_since) VALUES (1, 0, %s) ON CONFLICT (id) DO NOTHING
"""
MOVE = """
UPDATE tasks_figurecursor SET last_event_id = %s, minutes_since = {since} WHERE id = 1 AND last_event_id = %s
"""
PRUNE = """
DELETE FROM tasks_minutefigure WHERE id IN (
    SELECT f.id FROM tasks_minutefigure f WHERE f.at < (SELECT minutes_since FROM tasks_figurecursor) LIMIT %s)
"""
FIELDS = (
    "at time, day text, model_name text, modality text, channel_id bigint, outcome text, bucket bigint, tasks bigint, "
    "earned_micros bigint, cost_micros bigint, waited_ms bigint"
)
ADD = """
INSERT INTO {table} AS f ({columns})
SELECT {at}, {key}, {sums} FROM {rows} WHERE true GROUP BY 1, {key}
ON CONFLICT (at, {names}) DO UPDATE SET {added}
"""


def _add(table: str, at: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    names = sums.KEY[1:]
    statement = ADD.format(
        table=table,
        columns=", ".join(sums.COLUMNS),
        at=at,
        key=", ".join(f"r.{name}" for name in names),
        names=", ".join(names),
        sums=", ".join(f"CAST(sum(r.{name}) AS bigint)" for name in sums.ADDED),
        added=", ".join(f"{name} = f.{name} + excluded.{name}" for name in sums.ADDED),
        rows=sql.rows(FIELDS),
    )
    sql.run(statement, [sql.pack(rows)])


def _day(at: Any) -> str:
    return sql.as_moment(at).astimezone(UTC).date().isoformat()
