"""Which accepted calls want a poll, and when a polled one wants the next. Reads only: `tasks/paid_calls.py` writes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.base import Target
from common import documents, sql
from common.documents import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCall:
    """An accepted call that wants a poll: it has a handle, a result, or both. `attempt` is the task's fence now.
    `bought_in` is the attempt that bought the call, together with so many `siblings`. A call `is_late` when its task
    has ended. Its `defect` says why its row cannot be read, and then it has neither target nor answer.
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
    age_seconds: float
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
    t.status = 'running' AND t.deadline_at <= {now} AS is_overdue, {age} AS age_seconds
FROM tasks_call c JOIN tasks_task t ON t.id = c.task_id
WHERE c.worker_id = %s AND c.state IN ('accepted', 'late') AND c.next_poll_at <= {now}
ORDER BY c.next_poll_at LIMIT %s
"""


def due(worker_id: str, *, limit: int) -> list[DueCall]:
    """The calls of this worker whose poll is due, most overdue first."""
    now = sql.now()
    rows = sql.records(DUE.format(now=now, age=sql.seconds_between("c.created_at", now)), [worker_id, limit])
    return [_due(row._asdict()) for row in rows]


def _due(row: dict[str, Any]) -> DueCall:
    flags = {name: bool(row[name]) for name in ("is_late", "is_overdue")}
    return DueCall(**row | flags | _read(row) | {"age_seconds": float(row["age_seconds"])})


def _read(row: dict[str, Any]) -> dict[str, Any]:
    """The documents of a row, or what is wrong with them: one such row must not keep the others of its page."""
    found = {name: sql.as_document(row[name]) for name in ("target", "handle", "result")}
    try:
        target = documents.read(Target, found["target"])
        answers = {name: documents.whole(found[name], name) for name in ("handle", "result") if found[name] is not None}
    except Unreadable as error:
        return {"target": NOWHERE, "handle": None, "result": None, "defect": str(error)}
    return {"target": target, "handle": None, "result": None} | answers
