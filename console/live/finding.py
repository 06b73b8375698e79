"""Tasks of the Live page: running, queued and recently ended ones, the newest first."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from accounts.authentication import Caller
from common import modalities, sql
from console import problems
from console.problems import Problem
from tasks.models import ENDED, Asset
from tasks.origins import LISTED
from tasks.shown import eta, exhibits, representation
from tasks.shown.exhibits import Exhibit
from tasks.shown.representation import TaskView

MOST = {"running": 50, "queued": 30, "ended": 20}
LONGEST_PROMPT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRow:
    """Row of one task. `elapsed` and `usual` are seconds from submission to result; `usual` is None if no task of the
    model succeeded recently. `exhibit` is the first file, `files` their number. `prompt` is truncated."""

    task: TaskView
    prompt: str
    elapsed: float
    usual: float | None
    exhibit: Exhibit | None
    files: int
    problem: Problem | None

    @property
    def noun(self) -> str:
        modality = modalities.BY_NAME.get(self.task.modality)
        return modality.noun if modality else "result"


OF_STATUS = "SELECT id FROM (SELECT t.id FROM tasks_task t WHERE {condition} ORDER BY t.id DESC LIMIT {most}) {name}"
COUNTED = """
SELECT t.status, count(*) AS n FROM tasks_task t
WHERE t.account_id = %s AND t.key_id = %s AND t.status IN ('queued', 'running') AND t.origin IN ({listed})
GROUP BY t.status
"""
# Data that the task object lacks.
BESIDE = """
SELECT t.id, t.media_model_id, substr({prompt}, 1, %s) AS prompt
FROM tasks_task t LEFT JOIN tasks_taskpayload p ON p.task_id = t.id WHERE t.id IN ({ids})
"""


def counted(caller: Caller) -> tuple[int, int]:
    """Count the key's running and queued tasks, including those not shown, in one statement."""
    rows = sql.records(COUNTED.format(listed=sql.words(LISTED)), [caller.account_id, caller.key_id])
    found = {row.status: row.n for row in rows}
    return found.get("running", 0), found.get("queued", 0)


def rows(caller: Caller) -> list[LiveRow]:
    """Read at most MOST rows of each kind in two statements, plus one every 15 s for usual times."""
    tasks = _tasks(caller)
    if not tasks:
        return []
    statement = BESIDE.format(prompt=sql.json_text("p.params", "prompt"), ids=sql.places(tasks))
    beside = {row.id: row for row in sql.records(statement, [LONGEST_PROMPT, *(task.id for task in tasks)])}
    now = timezone.now()
    return [_row(task, beside[task.id], now) for task in tasks]


def _tasks(caller: Caller) -> list[TaskView]:
    listed = f"t.origin IN ({sql.words(LISTED)})"
    live = f"t.account_id = %s AND t.key_id = %s AND {listed} AND t.status"
    conditions = {
        "running": f"{live} = 'running'",
        "queued": f"{live} = 'queued'",
        "ended": f"t.key_id = %s AND {listed} AND t.status IN ({sql.words(ENDED)})",
    }
    parts = (OF_STATUS.format(condition=given, most=MOST[name], name=name) for name, given in conditions.items())
    ours = [caller.account_id, caller.key_id]
    where = f"t.id IN ({' UNION ALL '.join(parts)})"
    return representation.find(where, [*ours, *ours, caller.key_id], suffix=" ORDER BY t.id DESC")


def _row(task: TaskView, beside: Any, now: datetime) -> LiveRow:
    usual = eta.usual(beside.media_model_id) if beside.media_model_id else None
    shown = exhibits.exhibits([_asset(task, row) for row in task.assets[:1]])
    return LiveRow(
        task=task,
        prompt=beside.prompt or "",
        elapsed=((task.finished_at or now) - task.created_at).total_seconds(),
        usual=usual["p50"] if usual else None,
        exhibit=next(iter(shown), None),
        files=len(task.assets),
        problem=problems.describe(task.status, task.error),
    )


def _asset(task: TaskView, row: Mapping[str, Any]) -> Asset:
    moments = {name: row[name] and sql.as_moment(row[name]) for name in ("created_at", "deleted_at")}
    return Asset(task_id=task.id, **{**row, **moments})
