"""Step 14, in the database: reads which events are new, which a client has missed, which tasks were live at a cursor.

A cursor is an event's id. Ids are drawn before their transactions commit, so a lower one may appear after a higher
one, or never: `id > last` would lose events. The mark of an `EventReader` is settled: whatever will ever be found up
to it is there already. So a mark means the same to every process, and what is read "up to the mark" never changes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from common import sql
from common.database import settling
from tasks.models import ENDED
from tasks.origins import LISTED

PAGE = 1_000
REPLAY_EVENTS = 100_000
REPLAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A transition with what a stream tells of its task; `id` is the cursor after it."""

    id: int
    key_id: int
    task_id: str
    status: str
    modality: str
    model_name: str
    origin: str


SELECT = """
SELECT e.id, t.key_id, t.id AS task_id, e.status, t.modality, t.model_name, t.origin
FROM ({source}) e JOIN tasks_task t ON t.id = e.task_id ORDER BY e.id, t.id
"""
NEW = "SELECT id, task_id, status FROM tasks_taskevent WHERE id > %s ORDER BY id LIMIT %s"
MISSED = """
SELECT id, task_id, status FROM tasks_taskevent WHERE key_id = %s AND id > %s AND id <= %s ORDER BY id LIMIT %s
"""


def _events(source: str, parameters: Sequence[Any]) -> list[Event]:
    return [Event(**row._asdict()) for row in sql.records(SELECT.format(source=source), parameters)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Barrier:
    """The ids up to `top` are settled once the transactions that were open after `top` was seen have ended."""

    top: int
    open: frozenset[str]


class EventReader:
    """Follows the whole table from now on; one call at a time. A failed read has changed nothing."""

    def __init__(self) -> None:
        self.mark: int | None = None
        self._settled = 0
        self._barrier: Barrier | None = None

    @property
    def is_held(self) -> bool:
        """Whether events may be visible that cannot be told yet, because a lower id is still open."""
        return self._barrier is not None

    def read(self) -> list[Event]:
        """The next events, at most PAGE, in the order of their ids; moves the mark over them.

        The mark is None, and nothing returned, until the transactions that were open at the first call have ended.
        """
        if self.mark is None and self._barrier is None:
            self._barrier = Barrier(top=newest(), open=drawing())
        self._lift()
        if self.mark is None:
            if self._barrier is None:
                self.mark = self._settled
            return []
        page = _events(NEW, [self.mark, PAGE])
        told = self._in_sequence(self.mark, page)
        if len(told) < len(page) and self._barrier is None:
            self._barrier = Barrier(top=page[-1].id, open=drawing())
            if not self._barrier.open:  # the missing ids are settled already: look once more
                self._lift()
                told = self._in_sequence(self.mark, _events(NEW, [self.mark, PAGE]))
        if told:
            self.mark = told[-1].id
        return told

    def _lift(self) -> None:
        """Only the statements after this one surely see what the ended transactions have left."""
        barrier = self._barrier
        if barrier and not (barrier.open and barrier.open & drawing()):
            self._settled, self._barrier = barrier.top, None

    def _in_sequence(self, mark: int, page: Sequence[Event]) -> list[Event]:
        """The beginning of the page, up to the first id that may still be missing."""
        told: list[Event] = []
        for event in page:
            if event.id > max(mark + 1, self._settled):
                break
            told.append(event)
            mark = event.id
        return told


def newest() -> int:
    """The highest visible id, 0 where there is none."""
    return int(sql.value("SELECT COALESCE(max(id), 0) FROM tasks_taskevent"))


def settled() -> int | None:
    """A cursor after which a page that is read from now on misses nothing; None while a lower id may still appear."""
    cursor = newest()
    return None if drawing() else cursor


def drawing() -> frozenset[str]:
    """The open transactions that have drawn an event's id."""
    return settling.drawing("tasks_taskevent")


def missed(key_id: int, cursor: int, mark: int) -> tuple[list[Event], int]:
    """The key's next events after the cursor, and the cursor after them: the mark, or less where they are many."""
    page = _events(MISSED, [key_id, cursor, mark, PAGE])
    return [event for event in page if event.origin in LISTED], page[-1].id if len(page) == PAGE else mark


REPLAYABLE = """
SELECT %s <= (SELECT COALESCE(max(id), 0) FROM tasks_taskevent)
    AND NOT EXISTS (SELECT 1 FROM tasks_taskevent WHERE key_id = %s AND id > %s ORDER BY id LIMIT 1 OFFSET %s)
    AND COALESCE((SELECT at > {since} FROM tasks_taskevent WHERE key_id = %s AND id > %s ORDER BY id LIMIT 1), true)
"""


def is_replayable(key_id: int, cursor: int) -> bool:
    """Whether the cursor can have been given out, and what the key missed since is neither too old nor too much."""
    statement = REPLAYABLE.format(since=sql.later(str(-REPLAY_SECONDS)))
    return bool(sql.value(statement, [cursor, key_id, cursor, REPLAY_EVENTS, key_id, cursor]))


# Rebuilt from the events up to the mark, because the rows of the tasks may be ahead of it.
LIVE_AT = """
SELECT %s AS id, c.id AS task_id,
    (SELECT e.status FROM tasks_taskevent e WHERE e.task_id = c.id AND e.id <= %s ORDER BY e.id DESC LIMIT 1) AS status
FROM (
    SELECT id FROM tasks_task WHERE account_id = %s AND key_id = %s AND status IN ('queued', 'running')
    UNION SELECT task_id FROM tasks_taskevent WHERE key_id = %s AND id > %s
) c
"""


def live_at(mark: int, account_id: int, key_id: int) -> list[Event]:
    """The state, at the mark, of each task of the key that was queued or running then, in the order of creation."""
    found = _events(LIVE_AT, [mark, mark, account_id, key_id, key_id, mark])
    return [event for event in found if event.status not in (None, *ENDED) and event.origin in LISTED]


ENDED_AMONG = "SELECT t.id FROM {rows} JOIN tasks_task t ON t.id = r.id WHERE t.status IN ({ended})"


def ended_among(task_ids: Iterable[str]) -> list[str]:
    """Those of the tasks that have ended, by one statement."""
    statement = ENDED_AMONG.format(rows=sql.rows("id text"), ended=sql.words(ENDED))
    return sql.column(statement, [sql.ids(task_ids)])
