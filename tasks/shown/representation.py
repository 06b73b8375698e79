"""The task object, the one shape that GET, list, callback and admin show (interface, "Task object")."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import lru_cache
from typing import Any

from common import documents, moments, sql
from common.money import usd
from tasks.assets import links, signed_urls


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """One task with all that its object shows, read in one statement. `key_id` is whose it is, and not shown."""

    key_id: int
    id: str
    status: str
    modality: str
    model_name: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    estimated_micros: int
    actual_micros: int | None
    metadata: Mapping[str, Any] | None
    error: Mapping[str, Any] | None
    progress: int | None
    has_callback: bool
    result: Mapping[str, Any] | None
    delivery_status: str | None
    delivery_attempts: int | None
    next_attempt_at: datetime | None
    queue_position: int | None
    assets: tuple[Mapping[str, Any], ...]


SHOWN = tuple(field.name for field in fields(TaskView) if field.name != "key_id")
ASSET_KEYS = (
    *("position", "kind", "storage_key", "content_type", "size_bytes", "sha256"),
    *("width", "height", "duration_seconds", "created_at", "deleted_at"),
)
LISTED_ASSETS = {name: f"a.{name}" for name in ASSET_KEYS}
MOMENTS = ("created_at", "started_at", "finished_at", "next_attempt_at")
DOCUMENTS = ("metadata", "error", "result", "assets")
_encode = json.JSONEncoder(default=str, sort_keys=True).encode
# Each column has the name of its field in TaskView. `open_routes_id > 0` always holds; it leads SQLite,
# too, to the claim index, which knows only queued tasks.
SELECT = """
SELECT t.key_id, t.id, t.status, t.modality, t.model_name, t.created_at, t.started_at, t.finished_at,
    t.estimated_micros, t.actual_micros, t.metadata, t.error, t.progress, t.callback_url IS NOT NULL AS has_callback,
    p.result, d.status AS delivery_status, d.attempts AS delivery_attempts, d.next_attempt_at,
    CASE WHEN t.status = 'queued' THEN
        (SELECT count(*) FROM tasks_task q
         WHERE q.key_id = t.key_id AND q.open_routes_id > 0 AND q.status = 'queued' AND q.id <= t.id)
    END AS queue_position,
    CASE WHEN t.status = 'succeeded' THEN (SELECT {assets} FROM tasks_asset a WHERE a.task_id = t.id) END AS assets
FROM tasks_task t LEFT JOIN tasks_taskpayload p ON p.task_id = t.id LEFT JOIN callbacks_delivery d ON d.task_id = t.id
"""


def find(where: str, parameters: Sequence[object], *, suffix: str = "") -> list[TaskView]:
    """The tasks that match an SQL condition on `t`; one statement."""
    statement = f"{_select(sql.is_postgresql())} WHERE {where}{suffix}"
    return [_view(row) for row in sql.records(statement, parameters)]


@lru_cache
def _select(_is_postgresql: bool) -> str:
    return SELECT.format(assets=sql.objects(LISTED_ASSETS))


def find_all(wanted: Sequence[tuple[int, str]]) -> list[TaskView | None]:
    """The tasks of these keys and ids, in one statement; None where a key has no such task, be it another's."""
    keys, ids = ({pair[place] for pair in wanted} for place in (0, 1))
    where = f"t.id IN ({sql.places(ids)}) AND t.key_id IN ({sql.places(keys)})"
    found = {(task.key_id, task.id): task for task in find(where, [*ids, *keys])}
    return [found.get(pair) for pair in wanted]


def find_one(key_id: int, task_id: str) -> TaskView | None:
    """A task of this key, or None: another key's task does not exist."""
    (found,) = find_all([(key_id, task_id)])
    return found


def _view(row: Any) -> TaskView:
    """The row has TaskView's fields, as the database gives them."""
    given = row._asdict()
    for name in MOMENTS:
        if given[name] is not None:
            given[name] = sql.as_moment(given[name])
    for name in DOCUMENTS:
        given[name] = sql.as_document(given[name])
    given["assets"] = tuple(sorted(given["assets"] or (), key=lambda asset: int(asset["position"])))
    given["has_callback"] = bool(given["has_callback"])
    return TaskView(**given)


def represent(task: TaskView) -> dict[str, Any]:
    """The JSON of a task. Absent values are null, never missing; asset URLs are minted afresh."""
    shown = [links.public(task.id, row) for row in task.assets]
    return {
        "id": task.id,
        "status": task.status,
        "modality": task.modality,
        "model": task.model_name,
        "created_at": moments.iso(task.created_at),
        "started_at": moments.iso(task.started_at),
        "finished_at": moments.iso(task.finished_at),
        "estimated_cost": usd(task.estimated_micros),
        "actual_cost": None if task.actual_micros is None else usd(task.actual_micros),
        "result": _result(task, shown),
        "assets": shown,
        "metadata": task.metadata,
        "error": task.error,
        "progress": task.progress,
        "queue_position": task.queue_position,
        "callback": _callback(task),
    }


def _result(task: TaskView, shown: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    if task.status != "succeeded":
        return None
    listed = [{name: asset[name] for name in ("index", "kind", "url")} for asset in shown]
    return {"duration": documents.shown(task.result).get("duration", 0), "data": listed}


def _callback(task: TaskView) -> dict[str, Any] | None:
    if not task.has_callback:
        return None
    return {
        "status": task.delivery_status or "pending",
        "attempts": task.delivery_attempts or 0,
        "next_attempt_at": moments.iso(task.next_attempt_at),
    }


def submission(task: TaskView) -> dict[str, Any]:
    """The six fields of a submission's answer."""
    whole = represent(task)
    return {name: whole[name] for name in ("id", "status", "modality", "model", "created_at", "estimated_cost")}


def etag(task: TaskView) -> str:
    """Changes with anything the object shows, and with the window of its signed URLs."""
    text = _encode([[getattr(task, name) for name in SHOWN], signed_urls.window()])
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
