"""Queued and running tasks, read by one statement over live tasks only (the index `task_limits`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common import sql


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTasks:
    """Queued tasks of one model with identical routes; `overdue` of them wait longer than usual."""

    tasks: int
    overdue: int
    oldest_at: datetime
    model_id: int | None
    routes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTasks:
    """Queued tasks by group, and the number of running tasks by channel."""

    waiting: tuple[WaitingTasks, ...]
    running: Mapping[int | None, int]

    @property
    def queued(self) -> int:
        return sum(group.tasks for group in self.waiting)

    @property
    def overdue(self) -> int:
        return sum(group.overdue for group in self.waiting)

    @property
    def oldest_at(self) -> datetime | None:
        return min((group.oldest_at for group in self.waiting), default=None)

    @property
    def at_work(self) -> int:
        return sum(self.running.values())


USUAL = 60.0
"""Seconds of waiting that are normal for a model without history."""
# `status IN …` repeats the index condition for SQLite.
LIVE = """
SELECT g.status, g.model_id, g.channel_id, s.routes, g.tasks, g.overdue, g.oldest_at
FROM (
    SELECT t.status, t.media_model_id AS model_id,
        CASE WHEN t.status = 'running' THEN t.channel_id END AS channel_id,
        CASE WHEN t.status = 'queued' THEN t.open_routes_id END AS open_routes_id,
        count(*) AS tasks, min(t.created_at) AS oldest_at,
        count(CASE WHEN t.status = 'queued' AND t.created_at < {border} THEN 1 END) AS overdue
    FROM tasks_task t LEFT JOIN {usual} ON r.model = t.media_model_id
    WHERE t.status IN ('queued', 'running') GROUP BY 1, 2, 3, 4
) g LEFT JOIN tasks_routeset s ON s.id = g.open_routes_id
"""


def read(usual: Mapping[int, float]) -> LiveTasks:
    """Read live tasks; `usual` is the normal wait in seconds by model."""
    border = sql.later(f"-1 * COALESCE(r.seconds, {USUAL})")
    statement = LIVE.format(border=border, usual=sql.rows("model bigint, seconds real"))
    rows = sql.records(statement, [sql.pack({"model": model, "seconds": wait} for model, wait in usual.items())])
    running: dict[int | None, int] = {}
    for row in rows:
        if row.status == "running":
            running[row.channel_id] = running.get(row.channel_id, 0) + row.tasks
    return LiveTasks(waiting=tuple(_waiting(row) for row in rows if row.status == "queued"), running=running)


def _waiting(row: Any) -> WaitingTasks:
    return WaitingTasks(
        tasks=row.tasks,
        overdue=row.overdue,
        oldest_at=sql.as_moment(row.oldest_at),
        model_id=row.model_id,
        routes=tuple(sql.as_document(row.routes) or ()),
    )
