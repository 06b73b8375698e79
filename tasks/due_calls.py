"""Which accepted calls want a poll, and when a polled one wants the next. Reads only: `tasks/paid_calls.py` writes."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCall:
    """An accepted call that wants a poll: it has a handle, a result, or both. `attempt` is the task's fence now.
    `bought_in` is the attempt that bought the call, together with so many `siblings`. A call `is_late` when its task
    has ended, and `is_overdue` past its task's deadline. `is_last`: nothing is waited for after this poll.
    `is_finished`: the provider has finished it. Its result may be copied until `copy_until`, by time.monotonic.
    Its `defect` says why its row cannot be read, and then it has neither target nor answer.
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
    c.finished_at IS NOT NULL AS is_finished, {age} AS age_seconds, {left} AS seconds_left
FROM tasks_call c JOIN tasks_task t ON t.id = c.task_id
WHERE c.worker_id = %s AND c.state IN ('accepted', 'late') AND c.next_poll_at <= {now}
ORDER BY c.next_poll_at LIMIT %s
"""


def due(worker_id: str, *, limit: int) -> list[DueCall]:
    """The calls of this worker whose poll is due, most overdue first."""
    now = sql.now()
    statement = DUE.format(
        now=now,
        age=sql.seconds_between("c.created_at", now),
        left=sql.seconds_between(now, "t.deadline_at"),
        out_of_time=is_out_of_time(),
    )
    return [_due(**row._asdict()) for row in sql.records(statement, [worker_id, limit])]


def _due(*, seconds_left: Any, **row: Any) -> DueCall:
    flags = {name: bool(row[name]) for name in ("is_late", "is_overdue", "is_last", "is_finished")}
    times = {
        "age_seconds": float(row["age_seconds"]),
        "copy_until": time.monotonic() + float(seconds_left) + AFTER_DEADLINE_SECONDS,
    }
    return DueCall(**row | flags | times | _read(row))


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    """The documents of a row, or what is wrong with them: one such row must not keep the others of its page."""
    found = {name: sql.as_document(row[name]) for name in ("target", "handle", "result")}
    try:
        target = documents.read(Target, found["target"])
        answers = {name: documents.whole(found[name], name) for name in ("handle", "result") if found[name] is not None}
    except Unreadable as error:
        return {"target": NOWHERE, "handle": None, "result": None, "defect": str(error)}
    return {"target": target, "handle": None, "result": None} | answers


HOPEFUL = """
SELECT id FROM tasks_call WHERE task_id = %s AND attempt = %s AND state IN ('intent', 'accepted')
    AND (finished_at IS NOT NULL OR (state = 'accepted' AND next_poll_at <= {now}))
"""


def hopeful(task_id: str, bought_in: int) -> frozenset[int]:
    """The calls of one attempt, by id, that the provider has finished, or whose next poll is due or under way."""
    return frozenset(sql.column(HOPEFUL.format(now=sql.now()), [task_id, bought_in]))
