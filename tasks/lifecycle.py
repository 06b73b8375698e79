"""Step 13: tasks end. Status, ledger, result, paid call, event and callback row change in one transaction.

Only this module ends a task, and only `tasks/claims/queue.py` and `tasks/claims/starting.py` move one between queued
and running. Each move is guarded by id and status, and those of a running task by its attempt too, so that a worker
that has lost a task cannot touch it; a start raises the attempt under the lock of the row.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

from django.db import transaction

from billing import ledger
from callbacks import deliveries
from callbacks.deliveries import Owed
from common import sql
from common.database import writes
from common.database.database_retry import AWAY, apart
from common.database.writes import Write
from tasks import paid_calls
from tasks.assets import stored_inputs
from tasks.assets.assets import NewAsset
from tasks.events import events
from tasks.failures import STORAGE_UNAVAILABLE, TIMED_OUT, Failure
from tasks.locks import read_locked
from tasks.models import EndedStatus, LiveStatus
from tasks.paid_calls import CallEnd

logger = logging.getLogger(__name__)

TRANSITIONS = {
    "queued": {"running", "canceled", "timeout", "failed"},
    "running": {"queued", "succeeded", "failed", "timeout"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """What a succeeded task delivers and costs; `seconds` is `result.duration`."""

    actual_micros: int
    seconds: float
    assets: tuple[NewAsset, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of one task, valid only while it still has this status and attempt."""

    task_id: str
    from_status: LiveStatus
    attempt: int
    status: EndedStatus
    failure: Failure | None = None
    success: Success | None = None
    calls: tuple[CallEnd, ...] = ()

    @classmethod
    def succeeded(cls, task_id: str, attempt: int, success: Success, *calls: CallEnd) -> "Ending":
        return cls(
            task_id=task_id, from_status="running", attempt=attempt, status="succeeded", success=success, calls=calls
        )

    @classmethod
    def failed(
        cls, task_id: str, attempt: int, failure: Failure, *calls: CallEnd, from_status: LiveStatus = "running"
    ) -> "Ending":
        return cls(
            task_id=task_id, from_status=from_status, attempt=attempt, status="failed", failure=failure, calls=calls
        )

    @classmethod
    def timed_out(cls, task_id: str, attempt: int, *open_calls: int, from_status: LiveStatus = "running") -> "Ending":
        """The open calls, by id, are followed as late ones."""
        return cls(
            task_id=task_id,
            from_status=from_status,
            attempt=attempt,
            status="timeout",
            failure=TIMED_OUT,
            calls=_late(open_calls, "timeout"),
        )

    @classmethod
    def uncopied(cls, task_id: str, attempt: int, *open_calls: int) -> "Ending":
        """The provider has finished, but the result was not copied in time. The open calls, by id, are followed as late
        ones."""
        return cls.failed(task_id, attempt, STORAGE_UNAVAILABLE, *_late(open_calls, "copy_failed"))

    @classmethod
    def canceled(cls, task_id: str, attempt: int) -> "Ending":
        return cls(task_id=task_id, from_status="queued", attempt=attempt, status="canceled")


def _late(open_calls: Sequence[int], kind: str) -> tuple[CallEnd, ...]:
    return tuple(CallEnd(id=call, state="late", outcome={"kind": kind}) for call in open_calls)


def end(endings: Sequence[Ending]) -> frozenset[str]:
    """End these tasks, each named once; returns the ids that did end.

    Stale ones are left alone and simply do not come back. Stored inputs of those that are not charged are deleted after
    the commit.
    """
    _refuse_nonsense(endings)
    with transaction.atomic():
        ended = _locked(endings)
        mine = [ending for ending in endings if ending.task_id in ended]
        if mine:
            _write(mine, ended)
    if storing := [
        e.task_id for e in mine if ended[e.task_id].input_bytes and not (e.success and e.success.actual_micros)
    ]:
        stored_inputs.let_go(storing)
    return frozenset(ended)


def _write(endings: Sequence[Ending], tasks: Mapping[str, Any]) -> None:
    """All that changes with these ends, of which the tasks are locked."""
    found = [(ending, tasks[ending.task_id]) for ending in endings]
    owed = [
        Owed(task_id=row.id, account_id=row.account_id, url=row.callback_url) for _, row in found if row.callback_url
    ]
    ledger.settle(
        [_move_row(ending, row) for ending, row in found],
        ledger.lock_accounts([row.account_id for _, row in found]),
        columns=MOVE_COLUMNS,
        statements=[_move_statement()],
        others=[
            *events.recorded([(row.id, row.key_id, ending.status, row.attempt) for ending, row in found]),
            *_successes(endings),
            *paid_calls.closing([call for ending in endings for call in ending.calls]),
            *(deliveries.owing(owed) if owed else ()),
        ],
    )
    paid_calls.leave([ending.task_id for ending in endings if ending.from_status == "running"])


def end_each(endings: Sequence[Ending]) -> frozenset[str]:
    """The same, but one that cannot be ended, because its books are wrong, keeps no other: it is only logged."""
    found = list(zip(endings, apart(_are_ended, endings, of_all=AWAY), strict=True))
    for ending, outcome in found:
        if isinstance(outcome, Exception):
            logger.error("task %s cannot be ended", ending.task_id, exc_info=outcome)
    return frozenset(ending.task_id for ending, outcome in found if outcome is True)


def _are_ended(endings: Sequence[Ending]) -> list[bool]:
    ended = end(endings)
    return [ending.task_id in ended for ending in endings]


def _refuse_nonsense(endings: Sequence[Ending]) -> None:
    for ending in endings:
        if ending.status not in TRANSITIONS[ending.from_status]:
            raise ValueError(f"{ending.from_status} → {ending.status} is no transition")
        if (ending.status == "succeeded") != (ending.success is not None):
            raise ValueError(f"{ending.task_id}: a success and only a success has a cost and assets")
    if len({ending.task_id for ending in endings}) < len(endings):
        raise ValueError("a task ends once")


def _locked(endings: Sequence[Ending]) -> dict[str, Any]:
    """The rows of the tasks that can end so, by id, locked until the transaction ends."""
    wanted = {ending.task_id: (ending.from_status, ending.attempt) for ending in endings}
    rows = read_locked(list(wanted), "id, status, attempt, key_id, account_id, callback_url, input_bytes")
    return {row.id: row for row in rows if (row.status, row.attempt) == wanted[row.id]}


MOVE_COLUMNS = f"{ledger.SETTLING_COLUMNS}, expected text, attempt bigint, status text, error json"
MOVE = """
UPDATE tasks_task SET status = r.status, actual_micros = COALESCE(r.charge, 0), error = r.error, finished_at = {now},
    progress = CASE WHEN r.status = 'succeeded' THEN 100 ELSE progress END, not_before = NULL,
    input_bytes = CASE WHEN r.charge > 0 THEN 0 ELSE input_bytes END
FROM {rows}
WHERE tasks_task.id = r.id AND tasks_task.status = r.expected AND tasks_task.attempt = r.attempt
"""


@cache
def _move_statement() -> str:
    return MOVE.format(now=sql.now(), rows="{rows}")


def _move_row(ending: Ending, task: Any) -> dict[str, Any]:
    """Of a locked task: its MOVE_COLUMNS."""
    return {
        "id": ending.task_id,
        "account": task.account_id,
        "charge": ending.success.actual_micros if ending.success else None,
        "expected": ending.from_status,
        "attempt": ending.attempt,
        "status": ending.status,
        "error": sql.document(asdict(ending.failure)) if ending.failure else None,
    }


def _successes(endings: Sequence[Ending]) -> list[Write]:
    wins = [(ending.task_id, ending.success) for ending in endings if ending.success]
    results = [{"id": i, "result": sql.document({"duration": success.seconds})} for i, success in wins]
    assets = [
        {"task": i, "position": n} | {name: getattr(asset, name) for name in ASSET_FIELDS}
        for i, success in wins
        for n, asset in enumerate(success.assets)
    ]
    return [
        *writes.of_rows(
            "UPDATE tasks_taskpayload SET result = r.result FROM {rows} WHERE tasks_taskpayload.task_id = r.id",
            "id text, result json",
            results,
        ),
        *writes.of_rows(_asset_statement(), ASSET_COLUMNS, assets),
    ]


ASSET_FIELDS = tuple(field.name for field in fields(NewAsset))
ASSET_COLUMNS = (
    "task text, position bigint, kind text, storage_key text, content_type text, size_bytes bigint, sha256 text, "
    "width bigint, height bigint, duration_seconds real"
)


@cache
def _asset_statement() -> str:
    return (
        f"INSERT INTO tasks_asset (task_id, position, {', '.join(ASSET_FIELDS)}, created_at) "
        f"SELECT r.task, r.position, r.{', r.'.join(ASSET_FIELDS)}, {sql.now()} FROM {{rows}}"
    )
