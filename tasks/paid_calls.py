"""Step 8, the record of paid calls: the intent is committed before the call, the handle right after it.

The intent is fenced by the task's attempt. The handle is stored even when the fence has moved on: losing it would lose
a job that was paid for. Where a protocol has no count an attempt buys with several calls, told apart by their position;
a finished one is kept as a handle until the last of them has ended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction

from adapters.base import Target
from common import sql
from tasks.locks import lock_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A call that is about to be paid."""

    task_id: str
    attempt: int
    worker_id: str
    route_id: int
    channel_id: int
    credential_id: int | None
    target: Target
    request_digest: str
    passed: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCall:
    """An accepted call that wants a poll. `attempt` is the task's fence now, `bought_in` the attempt that bought it,
    beside so many `siblings`; `is_late` follows an ended task."""

    id: int
    task_id: str
    attempt: int
    bought_in: int
    siblings: int
    channel_id: int | None
    credential_id: int | None
    target: Target
    handle: Mapping[str, Any]
    faults: int
    copy_faults: int
    is_late: bool
    is_overdue: bool
    age_seconds: float


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


def intend(intent: Intent, count: int = 1) -> tuple[int, ...]:
    """Commit the intent of so many equal calls, and return their ids; empty if the task has been taken over or ended:
    then do not call."""
    with transaction.atomic():
        lock_tasks([intent.task_id])
        rows = sql.fetch(
            INTEND.format(now=sql.now(), rows=sql.rows("position bigint")),
            [
                intent.task_id,
                intent.attempt,
                intent.worker_id,
                intent.channel_id,
                intent.credential_id,
                intent.route_id,
                sql.document_parameter(asdict(intent.target)),
                intent.request_digest,
                sql.document_parameter([list(each) for each in intent.passed]) if intent.passed else None,
                sql.pack({"position": position} for position in range(count)),
                intent.task_id,
                intent.attempt,
                intent.worker_id,
            ],
        )
    return tuple(sorted(row[0] for row in rows))


INTEND = """
INSERT INTO tasks_call (task_id, attempt, position, worker_id, channel_id, credential_id, route_id, target,
    request_digest, passed, state, faults, copy_faults, created_at)
SELECT %s, %s, r.position, %s, %s, %s, %s, %s, %s, %s, 'intent', 0, 0, {now} FROM {rows}
WHERE EXISTS (SELECT 1 FROM tasks_task WHERE id = %s AND attempt = %s AND worker_id = %s AND status = 'running')
RETURNING id
"""


def reference(task_id: str, attempt: int, position: int) -> str:
    """Our own name for a call, unique for ever."""
    return f"{task_id}-{attempt}-{position}"


ACCEPT = """
UPDATE tasks_call SET handle = %s, answered_at = {now}, ended_at = NULL, next_poll_at = {later},
    worker_id = COALESCE(%s, worker_id), state = CASE state WHEN 'intent' THEN 'accepted' ELSE 'late' END
WHERE id = %s AND state IN ('intent', 'unknown', 'late') RETURNING state
"""


def accept(call_id: int, handle: Mapping[str, Any], *, poll_after: float, worker_id: str | None = None) -> bool:
    """Store the provider's handle; True if the task still waits for it. The given worker takes the call over.

    Where the task has ended meanwhile the call is late: it is followed all the same, and booked as our loss.
    """
    rows = sql.fetch(
        ACCEPT.format(now=sql.now(), later=sql.later("%s")),
        [sql.document_parameter(dict(handle)), poll_after, worker_id, call_id],
    )
    return bool(rows) and rows[0][0] == "accepted"


def close(call_id: int, *, state: str, outcome: Mapping[str, Any], cost_micros: int | None = None) -> None:
    """The call's own end, where no task ends with it."""
    sql.run(
        "UPDATE tasks_call SET state = %s, outcome = %s, cost_micros = %s, next_poll_at = NULL, "
        f"ended_at = {sql.now()} WHERE id = %s AND state IN ('intent', 'accepted', 'late', 'unknown')",
        [state, sql.document_parameter(dict(outcome)), cost_micros, call_id],
    )


def give_up(call_ids: Sequence[int]) -> None:
    """Wait no longer for answers whose worker is gone; a call whose handle came after all goes on."""
    sql.run(
        f"UPDATE tasks_call SET state = 'unknown', outcome = r.outcome, ended_at = {sql.now()} "
        f"FROM {sql.rows('id bigint, outcome json')} WHERE tasks_call.id = r.id AND tasks_call.state = 'intent'",
        [sql.pack({"id": call, "outcome": sql.document({"kind": "crash"})} for call in call_ids)],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the calls that an attempt buys with; `handle` is None until it is accepted."""

    id: int
    state: str
    handle: Mapping[str, Any] | None


def parts(task_id: str, bought_in: int) -> list[Part]:
    """The live calls that one attempt of a task bought with, by position."""
    rows = sql.fetch(
        "SELECT id, state, handle FROM tasks_call WHERE task_id = %s AND attempt = %s "
        "AND state IN ('intent', 'accepted') ORDER BY position",
        [task_id, bought_in],
    )
    return [Part(id=call, state=state, handle=sql.as_document(handle)) for call, state, handle in rows]


def keep(call_id: int, handle: Mapping[str, Any]) -> None:
    """A job has ended well while its siblings go on: its handle is now where its result is."""
    sql.run(
        f"UPDATE tasks_call SET handle = %s, next_poll_at = {sql.now()}, faults = 0 "
        "WHERE id = %s AND state IN ('accepted', 'late')",
        [sql.document_parameter(dict(handle)), call_id],
    )


def drop(call_id: int, task_id: str, *, state: str, outcome: Mapping[str, Any]) -> bool:
    """Close a call that brought nothing while siblings of it still may; False, and it stays open, where it is the last:
    then the task ends with it."""
    with transaction.atomic():
        lock_tasks([task_id])
        others = sql.fetch(
            "SELECT 1 FROM tasks_call c JOIN tasks_call s ON s.task_id = c.task_id AND s.attempt = c.attempt "
            "AND s.id <> c.id WHERE c.id = %s AND s.state IN ('intent', 'accepted') LIMIT 1",
            [call_id],
        )
        if others:
            close(call_id, state=state, outcome=outcome)
    return bool(others)


DUE = """
SELECT c.id, c.task_id, t.attempt, c.attempt,
    (SELECT count(*) - 1 FROM tasks_call s WHERE s.task_id = c.task_id AND s.attempt = c.attempt),
    c.channel_id, c.credential_id, c.target, c.handle, c.faults, c.copy_faults,
    c.state = 'late', t.status = 'running' AND t.deadline_at <= {now}, {age}
FROM tasks_call c JOIN tasks_task t ON t.id = c.task_id
WHERE c.worker_id = %s AND c.state IN ('accepted', 'late') AND c.next_poll_at <= {now}
ORDER BY c.next_poll_at LIMIT %s
"""


def due(worker_id: str, *, limit: int) -> list[DueCall]:
    """The calls of this worker whose poll is due, most overdue first."""
    age = (
        "EXTRACT(EPOCH FROM statement_timestamp() - c.created_at)"
        if sql.is_postgresql()
        else "(julianday('now') - julianday(c.created_at)) * 86400.0"
    )
    return [_due(*row) for row in sql.fetch(DUE.format(now=sql.now(), age=age), [worker_id, limit])]


def _due(call_id: int, task_id: str, attempt: int, bought_in: int, siblings: int, *rest: Any) -> DueCall:
    channel, credential, target, handle, faults, copy_faults, late, overdue, age = rest
    return DueCall(
        id=call_id,
        task_id=task_id,
        attempt=attempt,
        bought_in=bought_in,
        siblings=siblings,
        channel_id=channel,
        credential_id=credential,
        target=Target(**sql.as_document(target)),
        handle=sql.as_document(handle),
        faults=faults,
        copy_faults=copy_faults,
        is_late=bool(late),
        is_overdue=bool(overdue),
        age_seconds=float(age),
    )


def reschedule(plans: Sequence[Reschedule]) -> None:
    """Set the next polls, and the progress of tasks that still have this attempt. Two statements."""
    if not plans:
        return
    packed = sql.pack(
        {"id": p.call_id, "delay": p.delay_seconds, "faults": p.faults, "copies": p.copy_faults} for p in plans
    )
    sql.run(
        f"UPDATE tasks_call SET next_poll_at = {sql.later('r.delay')}, faults = r.faults, copy_faults = r.copies "
        f"FROM {sql.rows('id bigint, delay real, faults bigint, copies bigint')} "
        "WHERE tasks_call.id = r.id AND tasks_call.state IN ('accepted', 'late')",
        [packed],
    )
    known = [p for p in plans if p.progress is not None]
    if known:
        sql.run(
            f"UPDATE tasks_task SET progress = r.progress FROM {sql.rows('id text, attempt bigint, progress bigint')} "
            "WHERE tasks_task.id = r.id AND tasks_task.attempt = r.attempt AND tasks_task.status = 'running'",
            [
                sql.pack(
                    {"id": p.task_id, "attempt": p.attempt, "progress": p.progress}
                    for p in sorted(known, key=lambda p: p.task_id)
                )
            ],
        )
