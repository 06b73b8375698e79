"""The columns of a new task, each of them once: its type, where its value stands on a draft, and what copies it.

The row of a draft, the INSERT and what a retry takes from the old task are made of this list. A field of `Task` or
`TaskPayload` that is not in it has its reason in `NOT_WRITTEN` (`tests/tasks/intake/test_columns.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from common import sql
from tasks.models import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeColumn:
    """A column that a submission writes. The row `r` has its value by name, of this `type`, from `source` (a path of
    attributes of the draft); one with a type and no source is only ever copied. `written`, where it is given, is the
    SQL expression that is inserted in place of `r.name`.

    `on_retry`: an operator's retry has the value of the old task; `on_attach`: so has a task that a job is attached to.
    """

    name: str
    type: str = ""
    source: str = ""
    written: str = ""
    on_retry: bool = False
    on_attach: bool = False

    @property
    def expression(self) -> str:
        return self.written or f"r.{self.name}"


COPIED: Mapping[str, Any] = {"on_retry": True, "on_attach": True}
TASK_COLUMNS = (
    IntakeColumn(name="id", type="text", source="task_id"),
    IntakeColumn(name="key_id", type="bigint", source="caller.key_id", **COPIED),
    IntakeColumn(name="secret_id", type="bigint", source="caller.secret_id", on_attach=True),
    IntakeColumn(name="account_id", type="bigint", source="caller.account_id", **COPIED),
    IntakeColumn(name="origin", type="text", source="origin", on_attach=True),
    IntakeColumn(name="model_name", type="text", source="prepared.body.model", **COPIED),
    IntakeColumn(name="media_model_id", type="bigint", source="prepared.model.id", **COPIED),
    IntakeColumn(name="modality", type="text", source="prepared.model.modality", **COPIED),
    IntakeColumn(name="status", written="'queued'"),
    IntakeColumn(name="attempt", written="0"),
    IntakeColumn(name="requeues", written="0"),
    IntakeColumn(name="route_set_id", type="bigint", source="route_set_id", on_attach=True),
    IntakeColumn(name="open_routes_id", written="r.route_set_id"),
    IntakeColumn(name="idempotency_key", type="text", source="idempotency_key"),
    IntakeColumn(name="body_digest", type="text", source="body_digest", **COPIED),
    IntakeColumn(name="estimated_micros", type="bigint", source="prepared.price.estimate_micros", on_attach=True),
    IntakeColumn(name="price", type="json", source="price", on_attach=True),
    IntakeColumn(name="deadline_at", type="bigint", source="queue_seconds", written="{deadline}"),
    IntakeColumn(name="created_at", written="{now}"),
    IntakeColumn(name="callback_url", type="text", source="prepared.body.callback_url", **COPIED),
    IntakeColumn(name="metadata", type="json", source="prepared.body.metadata", **COPIED),
    IntakeColumn(name="input_bytes", type="bigint", source="input_bytes"),
    IntakeColumn(name="retry_of_id", type="text"),
)
PAYLOAD_COLUMNS = (
    IntakeColumn(name="task_id", written="r.id"),
    IntakeColumn(name="params", type="json", source="params"),
    IntakeColumn(name="trace", type="json", source="trace"),
)
NOT_WRITTEN: Mapping[str, str] = {
    "channel_id": "the claim sets it",
    "route_id": "the claim sets it",
    "worker_id": "the claim sets it",
    "started_at": "the claim sets it",
    "not_before": "the way back to the queue sets it",
    "seconds_left": "the way back to the queue sets it",
    "progress": "polls set it",
    "actual_micros": "the end sets it",
    "finished_at": "the end sets it",
    "error": "the end sets it",
    "result": "the end sets it, in the payload",
    "pruned_at": "retention sets it, in the payload",
}

_READ = [column for column in (*TASK_COLUMNS, *PAYLOAD_COLUMNS) if column.source]
NAMES = tuple(column.name for column in _READ)
values = attrgetter(*(column.source for column in _READ))
"""What a draft says of NAMES."""
JSON = tuple(column.name for column in _READ if column.type == "json")
ROW = ", ".join(f"{column.name} {column.type}" for column in (*TASK_COLUMNS, *PAYLOAD_COLUMNS) if column.type)
"""What the row `r` has, as `sql.rows` takes it."""


def of_retry(task: Task) -> dict[str, Any]:
    """What a retry of the task has in common with it, and the link to it."""
    return {column.name: getattr(task, column.name) for column in TASK_COLUMNS if column.on_retry} | {
        "retry_of_id": task.pk
    }


def of_attached(task: Task) -> dict[str, Any]:
    """What a task has in common with this one to which the job of a call of this one is attached."""
    return {column.name: getattr(task, column.name) for column in TASK_COLUMNS if column.on_attach}


@cache
def insertions() -> tuple[str, ...]:
    """The INSERTs of tasks and payloads (`writes.write_together`); the first returns ids and moments of creation."""
    tasks = _inserting("tasks_task", TASK_COLUMNS)
    return f"{tasks} RETURNING id, created_at", _inserting("tasks_taskpayload", PAYLOAD_COLUMNS)


def _inserting(table: str, columns: Sequence[IntakeColumn]) -> str:
    names = ", ".join(column.name for column in columns)
    expressions = ", ".join(column.expression for column in columns)
    statement = f"INSERT INTO {table} ({names}) SELECT {expressions} FROM {{rows}} WHERE true"
    return statement.format(now=sql.now(), deadline=sql.later("r.deadline_at"), rows="{rows}")
