"""Step 11, the record of paid calls: the intent is committed before the call, a handle or the addresses of a result
right after it.

Only this module moves calls, and every move is in `CALL_TRANSITIONS`; when they are polled stands in `tasks/polls.py`.
The intent is fenced by the task's attempt. The answer is stored even when the fence has moved on: losing it would lose
a job that was paid for. Where a protocol has no count, an attempt buys with several calls, told apart by position.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from adapters.base import Target
from common import sql
from common.database import writes
from common.database.writes import Write
from tasks import due_calls
from tasks.locks import lock_tasks
from tasks.models import Call

CALL_TRANSITIONS: dict[str, set[str]] = {
    "intent": {"accepted", "done", "refused", "unknown", "late"},
    "accepted": {"done", "late"},
    "late": {"done", "refused", "unknown", "lost"},
    "unknown": {"done", "refused", "late", "lost"},
    "done": set(),
    "refused": set(),
    "lost": set(),
}
"""An open call has a live task, a late one an ended task. For an unknown one an answer may still come."""
OPEN = "state IN ('intent', 'accepted')"
FOLLOWED = "state IN ('accepted', 'late')"
UNRESOLVED = Q(state="unknown", outcome__resolved__isnull=True)


def moving(to: str, *sources: str) -> str:
    """The condition of a move from these states. One that is not in the table cannot be written."""
    if not all(to in CALL_TRANSITIONS[source] for source in sources):
        raise ValueError(f"{sources} → {to} is no transition")
    return f"state IN ({sql.words(sources)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """So many calls of one task that are about to be paid, all equal."""

    task_id: str
    attempt: int
    worker_id: str
    route_id: int
    channel_id: int
    credential_id: int | None
    target: Target
    request_digest: str
    count: int = 1
    passed: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Intended:
    """A call whose intent is committed; `reference` is our own name for it, unique for ever."""

    id: int
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnd:
    """How a paid call ends. `mismatch` tells the operator how what the provider reports differs from the bill."""

    id: int
    state: Literal["done", "refused", "unknown", "late", "lost"]
    outcome: Mapping[str, Any] | None = None
    cost_micros: int | None = None
    mismatch: str = ""


# Locked first, in the order of their ids: the fence is asked of the rows as they then are.
INTEND = """
WITH live AS (SELECT id, attempt, worker_id, status FROM tasks_task WHERE id {among} ORDER BY id{lock})
INSERT INTO tasks_call (task_id, attempt, position, worker_id, channel_id, credential_id, route_id, target,
    request_digest, passed, state, faults, copy_faults, created_at)
SELECT r.task, r.attempt, r.position, r.worker, r.channel, r.credential, r.route, r.target,
    r.digest, r.passed, 'intent', 0, 0, {now}
FROM {rows} JOIN live t ON t.id = r.task AND {fence}
RETURNING task_id, position, id
"""
COMMITTED = """
WITH live AS (SELECT id, attempt, worker_id, status FROM tasks_task WHERE id {among})
SELECT c.task_id, c.position, c.id
FROM {rows} JOIN live t ON t.id = r.task AND {fence}
JOIN tasks_call c ON c.task_id = r.task AND c.attempt = r.attempt AND c.position = r.position AND c.state = 'intent'
"""
FENCE = "t.attempt = r.attempt AND t.worker_id = r.worker AND t.status = 'running'"
INTENT_COLUMNS = (
    "task text, attempt bigint, position bigint, worker text, channel bigint, credential bigint, route bigint, "
    "target json, digest text, passed json"
)


def intend(intents: Sequence[Intent], *, statement: str = INTEND) -> dict[str, tuple[Intended, ...]]:
    """Commit these intents, and return their calls by task, in the order of their positions. A task that has been taken
    over or has ended is not among them: then do not call. Raises IntegrityError where an earlier try was committed. One
    statement, and a transaction of its own."""
    targets = {id(intent.target): intent.target for intent in intents}  # tasks of one route share its target
    forms = {number: sql.document(asdict(target)) for number, target in targets.items()}
    items = [row for intent in intents for row in _intent_rows(intent, forms[id(intent.target)])]
    attempts = {intent.task_id: intent.attempt for intent in intents}
    rows = sql.records(_intent_statement(statement), [sql.values(attempts), sql.pack(items)])
    calls: dict[str, tuple[Intended, ...]] = {}
    for row in sorted(rows):
        name = reference(row.task_id, attempts[row.task_id], row.position)
        calls[row.task_id] = (*calls.get(row.task_id, ()), Intended(id=row.id, reference=name))
    return calls


def committed(intents: Sequence[Intent]) -> dict[str, tuple[Intended, ...]]:
    """Return what `intend` has committed in an earlier try that went unseen, as long as it may still be called."""
    return intend(intents, statement=COMMITTED)


@cache
def _intent_statement(statement: str) -> str:
    return statement.format(
        now=sql.now(), rows=sql.rows(INTENT_COLUMNS), fence=FENCE, among=sql.listed("text"), lock=sql.row_lock()
    )


def _intent_rows(intent: Intent, target: object) -> Iterator[dict[str, Any]]:
    row = {
        "task": intent.task_id,
        "attempt": intent.attempt,
        "worker": intent.worker_id,
        "channel": intent.channel_id,
        "credential": intent.credential_id,
        "route": intent.route_id,
        "target": target,
        "digest": intent.request_digest,
        "passed": sql.document([list(each) for each in intent.passed]) if intent.passed else None,
    }
    return (row | {"position": position} for position in range(intent.count))


def reference(task_id: str, attempt: int, position: int) -> str:
    return f"{task_id}-{attempt}-{position}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswer:
    """What a provider answered to a paid call: the handle of a job, to be polled after so many seconds, or a result
    that it has finished. With neither, the result is bytes, which come to our storage from here. The given worker takes
    the call over."""

    call_id: int
    task_id: str
    handle: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
    poll_after: float = 0.0
    worker_id: str | None = None


ANSWER = f"""
UPDATE tasks_call SET handle = COALESCE(r.job, handle), result = COALESCE(r.made, result),
    finished_at = CASE WHEN r.made IS NULL THEN finished_at ELSE COALESCE(finished_at, {{now}}) END,
    answered_at = COALESCE(answered_at, {{now}}), ended_at = NULL, faults = 0, next_poll_at = {{later}},
    worker_id = COALESCE(r.worker, worker_id),
    state = CASE WHEN state IN ('unknown', 'late') THEN 'late' ELSE 'accepted' END
FROM {{rows}} WHERE tasks_call.id = r.id
    AND ({moving("accepted", "intent")} OR {moving("late", "unknown")} OR {FOLLOWED})
RETURNING tasks_call.id, tasks_call.state
"""
ANSWER_COLUMNS = "id bigint, job json, made json, delay real, worker text"


def record(answers: Sequence[CallAnswer]) -> frozenset[int]:
    """Store these answers; returns the calls, by id, whose tasks still wait for them.

    Where the task has ended meanwhile the call is late: it is followed all the same, and booked as our loss.
    """
    stored = [each for each in answers if each.handle is not None or each.result is not None]
    with transaction.atomic():
        lock_tasks([each.task_id for each in answers])
        return _answered(stored) | finish([each.call_id for each in answers if each not in stored])


def accept(call_id: int, handle: Mapping[str, Any], *, poll_after: float, worker_id: str | None = None) -> bool:
    """Store the provider's handle, as `record` does; True if the task still waits for it."""
    answer = CallAnswer(call_id=call_id, task_id="", handle=handle, poll_after=poll_after, worker_id=worker_id)
    return bool(_answered([answer]))


def keep(call_id: int, result: Mapping[str, Any]) -> bool:
    """Store what a call has made until the task ends with it, like `accept`: the provider has finished. The next poll
    is due at once."""
    return bool(_answered([CallAnswer(call_id=call_id, task_id="", result=result)]))


def _answered(answers: Sequence[CallAnswer]) -> frozenset[int]:
    if not answers:
        return frozenset()
    rows = sql.records(
        ANSWER.format(now=sql.now(), later=sql.later("r.delay"), rows=sql.rows(ANSWER_COLUMNS)),
        [
            sql.pack(
                {
                    "id": answer.call_id,
                    "job": sql.document(answer.handle),
                    "made": sql.document(answer.result),
                    "delay": answer.poll_after,
                    "worker": answer.worker_id,
                }
                for answer in answers
            )
        ],
    )
    if any(answer.poll_after < due_calls.LOOK_SECONDS for answer in answers):
        transaction.on_commit(due_calls.news.tell)
    return frozenset(row.id for row in rows if row.state == "accepted")


def finish(call_ids: Sequence[int]) -> frozenset[int]:
    """Note that the provider has finished these calls: what they made may be copied for a while after the deadline.
    Returns those that a task still waits for."""
    if not call_ids:
        return frozenset()
    found = sql.column(
        f"UPDATE tasks_call SET finished_at = COALESCE(finished_at, {sql.now()}) "
        f"WHERE {OPEN} AND id {sql.among('bigint')} RETURNING id",
        [sql.ids(call_ids)],
    )
    return frozenset(found)


# One whose answer came after its caller gave it up as unknown is followed: the job is there. It stays accepted, as
# another worker may have found it for a live task; `leave` makes those of ended tasks late.
CLOSED_AS = """CASE WHEN r.state <> 'unknown' OR COALESCE(handle, result) IS NULL THEN r.state
    WHEN tasks_call.state = 'accepted' THEN 'accepted' ELSE 'late' END"""
MOVES = [(old, new) for old, news in CALL_TRANSITIONS.items() for new in sorted(news)]
STAYS = [("accepted", "accepted"), ("late", "late"), ("unknown", "unknown")]  # only more is known now
CLOSE = f"""
UPDATE tasks_call SET state = {CLOSED_AS}, outcome = r.outcome, cost_micros = r.cost, mismatch = r.mismatch,
    ended_at = CASE WHEN {CLOSED_AS} IN ('accepted', 'late') THEN NULL ELSE {{now}} END,
    next_poll_at = CASE WHEN {CLOSED_AS} IN ('accepted', 'late') THEN next_poll_at END,
    finished_at = CASE WHEN r.state = 'done' THEN COALESCE(finished_at, {{now}}) ELSE finished_at END
FROM {{rows}} WHERE tasks_call.id = r.id
    AND (tasks_call.state, {CLOSED_AS}) IN (VALUES {", ".join(map(str, [*MOVES, *STAYS]))})
"""


CLOSE_COLUMNS = "id bigint, state text, outcome json, cost bigint, mismatch text"


def close(*ends: CallEnd) -> None:
    """End these calls. One that has ended before stays as it is."""
    writes.run(closing(ends))


def closing(ends: Sequence[CallEnd]) -> list[Write]:
    """The write that does it."""
    rows = [
        {
            "id": end.id,
            "state": end.state,
            "outcome": sql.document(end.outcome),
            "cost": end.cost_micros,
            "mismatch": end.mismatch,
        }
        for end in ends
    ]
    return writes.of_rows(_close_statement(), CLOSE_COLUMNS, rows)


@cache
def _close_statement() -> str:
    return CLOSE.format(now=sql.now(), rows="{rows}")


def drop(end: CallEnd, task_id: str) -> bool:
    """Close a call that brought nothing while siblings of it still may; False, and it stays open, where it is the last:
    then the task ends with it."""
    with transaction.atomic():
        lock_tasks([task_id])
        siblings = sql.fetch(
            "SELECT 1 FROM tasks_call c JOIN tasks_call s ON s.task_id = c.task_id AND s.attempt = c.attempt "
            f"AND s.id <> c.id WHERE c.id = %s AND s.{OPEN} LIMIT 1",
            [end.id],
        )
        if siblings:
            close(end)
    return bool(siblings)


def leave(task_ids: Sequence[str]) -> None:
    """Follow the open calls of ended tasks as late ones: what they still bring is our loss. A statement of its own,
    after those that close calls: an answer may have come meanwhile."""
    if task_ids:
        sql.run(_leave_statement(), [sql.values(task_ids)])


@cache
def _leave_statement() -> str:
    return (
        f"UPDATE tasks_call SET state = 'late' WHERE {moving('late', 'intent', 'accepted')} "
        f"AND task_id {sql.listed('text')}"
    )


def give_up(call_ids: Iterable[int]) -> None:
    """Wait no longer for answers that nobody can receive any more; a call whose answer came after all goes on."""
    sql.run(
        f"UPDATE tasks_call SET state = 'unknown', outcome = COALESCE(outcome, %s), ended_at = {sql.now()} "
        f"WHERE {moving('unknown', 'intent', 'late')} AND COALESCE(handle, result) IS NULL "
        f"AND id {sql.among('bigint')}",
        [sql.document_parameter({"kind": "crash"}), sql.ids(call_ids)],
    )


def attach(call: Call, handle: Mapping[str, Any], *, task_id: str, worker_id: str) -> None:
    """The job that a call of unknown outcome did buy, as the accepted call of another task."""
    copied = ("channel_id", "credential_id", "route_id", "target", "request_digest")
    Call.objects.create(
        task_id=task_id,
        attempt=1,
        worker_id=worker_id,
        state="accepted",
        handle=dict(handle),
        answered_at=Now(),
        next_poll_at=Now(),
        **{name: getattr(call, name) for name in copied},
    )


def resolve(end: CallEnd) -> bool:
    """What an operator made of a call of unknown outcome; False if that was settled, or became known, before."""
    if end.state not in CALL_TRANSITIONS["unknown"]:
        raise ValueError(f"unknown → {end.state} is no transition")
    rows = Call.objects.filter(UNRESOLVED, pk=end.id)
    return bool(rows.update(state=end.state, outcome=end.outcome, cost_micros=end.cost_micros))


def note(call_id: int, outcome: Mapping[str, Any]) -> None:
    """More about a call whose outcome stays unknown."""
    Call.objects.filter(pk=call_id, state="unknown").update(outcome=outcome)
