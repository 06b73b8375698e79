"""Which accepted calls want a poll, and when a polled one wants the next. Reads only: `tasks/paid_calls.py` writes.

`next_poll_at` of a call's row is the moment before which it is not polled, as far as it had to be written: when it was
accepted or adopted, after a fault, and from its task's deadline on after every poll. A poll that finds nothing new
before that writes nothing: the worker that follows the call knows by itself when it asks again
(`worker/follow/schedule.py`), and whoever adopts the call asks at once. Whoever writes another moment hastens the poll.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import Any

from adapters.base import Target
from common import documents, sql
from common.documents import Unreadable

AFTER_DEADLINE_SECONDS = 900
"""So much longer may be copied what a provider has finished by the deadline."""
HAS_FINISHED = (
    "(SELECT count(*) FROM tasks_call f WHERE f.task_id = t.id AND f.finished_at IS NOT NULL "
    "AND f.state IN ('intent', 'accepted')) > 0"
)
"""The condition that a provider has finished an open call of the task `t`. Counted, since PostgreSQL would answer an
EXISTS by reading all calls once."""


def is_out_of_time() -> str:
    """The condition that nothing more may be waited for on behalf of the task `t`."""
    after = sql.later(str(-AFTER_DEADLINE_SECONDS))
    return f"t.deadline_at <= {sql.now()} AND (t.deadline_at <= {after} OR NOT ({HAS_FINISHED}))"


LOOK_SECONDS = 2.0
"""So often at least a worker looks for calls to follow; what is due before the next look is told (`news`)."""
MARGIN_SECONDS = 1.0  # between the clock of a statement and its commit
AHEAD_SECONDS = 3 * LOOK_SECONDS


class News:
    """Tells whether this process has written what a worker wants to see before its next look."""

    def __init__(self) -> None:
        self.number = 0
        self._numbers = count(1)

    def tell(self) -> None:
        self.number = next(self._numbers)


news = News()


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A call that a worker follows: it wants no poll for so many seconds, 0 or less for one that is due. `stamp` is
    its row's `next_poll_at`, in whatever form the database gives it."""

    id: int
    wait_seconds: float
    stamp: Any


FOLLOWED = """
SELECT id, {wait} AS wait_seconds, next_poll_at AS stamp FROM tasks_call
WHERE worker_id = %s AND state IN ('accepted', 'late') AND next_poll_at IS NOT NULL {window}
ORDER BY next_poll_at, state, id
"""


def followed(worker_id: str, *, since_seconds: float | None = None) -> list[Followed]:
    """The calls that a worker follows, most overdue first; of many that were adopted at once the live ones in the order
    in which they were bought, since the deadlines of the first are next. With `since_seconds`, the age of the last
    look, those whose moment has come since then or comes soon: what was written meanwhile and is due before the next
    look is among them."""
    window, bounds = "", []
    if since_seconds is not None:
        window = f"AND next_poll_at > {sql.later('%s')} AND next_poll_at <= {sql.later('%s')}"
        bounds = [-since_seconds - MARGIN_SECONDS, AHEAD_SECONDS]
    statement = FOLLOWED.format(wait=sql.seconds_between(sql.now(), "next_poll_at"), window=window)
    rows = sql.fetch(statement, [worker_id, *bounds])
    return [Followed(id=call_id, wait_seconds=float(wait), stamp=stamp) for call_id, wait, stamp in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCall:
    """An accepted call that wants a poll in `wait_seconds`, due at 0 or less: it has a handle, a result, or both.
    `attempt` is the task's fence now. `bought_in` is the attempt that bought the call, together with so many
    `siblings`. A call `is_late` when its task has ended, and `is_overdue` past its task's deadline. `is_last`: nothing
    is waited for after this poll. `is_finished`: the provider has finished it. Its result may be copied until
    `copy_until`, by time.monotonic. `progress` is its task's. Its `defect` says why its row cannot be read, and then it
    has neither target nor answer.
    """

    id: int
    task_id: str
    attempt: int
    bought_in: int
    siblings: int
    channel_id: int | None
    credential_id: int | None
    target: Target
    handle: Mapping[str, Any] | None
    result: Mapping[str, Any] | None
    faults: int
    copy_faults: int
    is_late: bool
    is_overdue: bool
    is_last: bool
    is_finished: bool
    age_seconds: float
    copy_until: float
    wait_seconds: float = 0.0
    progress: int | None = None
    defect: str = ""


NOWHERE = Target(adapter="", base_url="", upstream_model="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reschedule:
    """When to poll a call again, its faults in a row, and the job's progress where it is known."""

    call_id: int
    task_id: str
    attempt: int
    delay_seconds: float
    faults: int = 0
    copy_faults: int = 0
    progress: int | None = None

    @classmethod
    def of(cls, call: DueCall, delay_seconds: float, *, progress: int | None = None) -> "Reschedule":
        return cls(
            call_id=call.id,
            task_id=call.task_id,
            attempt=call.attempt,
            delay_seconds=delay_seconds,
            copy_faults=call.copy_faults,
            progress=progress,
        )

    @classmethod
    def after_fault(cls, call: DueCall, delay_seconds: float) -> "Reschedule":
        return replace(cls.of(call, delay_seconds), faults=call.faults + 1)

    @classmethod
    def after_copy_fault(cls, call: DueCall, delay_seconds: float) -> "Reschedule":
        return replace(cls.of(call, delay_seconds), copy_faults=call.copy_faults + 1)


DUE = """
SELECT c.id, c.task_id, t.attempt, c.attempt AS bought_in,
    (SELECT count(*) - 1 FROM tasks_call s WHERE s.task_id = c.task_id AND s.attempt = c.attempt) AS siblings,
    c.channel_id, c.credential_id, c.target, c.handle, c.result, c.faults, c.copy_faults, c.state = 'late' AS is_late,
    t.status = 'running' AND t.deadline_at <= {now} AS is_overdue, t.status = 'running' AND {out_of_time} AS is_last,
    c.finished_at IS NOT NULL AS is_finished, {age} AS age_seconds, {left} AS seconds_left, {wait} AS wait_seconds,
    t.progress
FROM tasks_call c JOIN tasks_task t ON t.id = c.task_id
WHERE c.id {chosen} AND c.worker_id = %s AND {state} IN ('accepted', 'late') AND c.next_poll_at IS NOT NULL
"""


def read(worker_id: str, call_ids: Sequence[int]) -> list[DueCall]:
    """These calls, in this order, without those that this worker does not follow any more. They are found by their ids:
    the index of what a worker follows holds all of it, and looks empty to the planner just after an adoption."""
    now = sql.now()
    statement = DUE.format(
        now=now,
        age=sql.seconds_between("c.created_at", now),
        left=sql.seconds_between(now, "t.deadline_at"),
        out_of_time=is_out_of_time(),
        wait=sql.seconds_between(now, "c.next_poll_at"),
        state=sql.unindexed("c.state"),
        chosen=sql.listed("bigint"),
    )
    place = {call_id: number for number, call_id in enumerate(call_ids)}
    rows = sql.records(statement, [sql.values(call_ids), worker_id])
    return [_due(**row._asdict()) for row in sorted(rows, key=lambda row: place[row.id])]


def _due(*, seconds_left: Any, **row: Any) -> DueCall:
    flags = {name: bool(row[name]) for name in ("is_late", "is_overdue", "is_last", "is_finished")}
    times = {
        "age_seconds": float(row["age_seconds"]),
        "wait_seconds": float(row["wait_seconds"]),
        "copy_until": time.monotonic() + float(seconds_left) + AFTER_DEADLINE_SECONDS,
    }
    return DueCall(**row | flags | times | _read(row))


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    """The documents of a row, or what is wrong with them: one such row must not keep the others of its page."""
    found = {name: sql.as_document(row[name]) for name in ("handle", "result")}
    try:
        target = _target(row["target"])
        answers = {name: documents.whole(found[name], name) for name in ("handle", "result") if found[name] is not None}
    except Unreadable as error:
        return {"target": NOWHERE, "handle": None, "result": None, "defect": str(error)}
    return {"target": target, "handle": None, "result": None} | answers


@lru_cache(maxsize=512)
def _target(text: str) -> Target:
    """All jobs of a channel model have the same. Raises Unreadable."""
    return documents.read(Target, sql.as_document(text))


HOPEFUL = """
SELECT id FROM tasks_call WHERE task_id = %s AND attempt = %s AND state IN ('intent', 'accepted')
    AND (finished_at IS NOT NULL OR (state = 'accepted' AND next_poll_at <= {now}))
"""


def hopeful(task_id: str, bought_in: int) -> frozenset[int]:
    """The calls of one attempt, by id, that the provider has finished, or whose last poll is still to come or under
    way. For a task that is out of time: before that its polls need not move `next_poll_at`."""
    return frozenset(sql.column(HOPEFUL.format(now=sql.now()), [task_id, bought_in]))
