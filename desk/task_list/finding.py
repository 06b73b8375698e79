"""Search for a page of tasks, the newest first, by indexes only.

A page scans at most SCANNED tasks. If a rare filter does not fill the page within them, the list says so and continues
from there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from accounts.models import ApiKey
from common import ids, sql
from tasks.models import LIVE, Task

PAGE = 50
SCANNED = 20_000
MOST_KEYS = 100
CLOCK_SLACK_SECONDS = 3600  # ids carry the web process's clock; created_at is the database's


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuery:
    """Filters of the search; None is any. `before` is the task id that the page continues from."""

    status: str | None = None
    modality: str | None = None
    model: str | None = None
    channel_id: int | None = None
    account_id: int | None = None
    key_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPage:
    """Page of tasks. `older` is the id before which the next page begins, None at the end. `is_cut`: the scan stopped
    at its limit."""

    tasks: tuple[Task, ...]
    older: str | None
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """SQL conditions on `t`, joined by AND, with their parameters."""

    conditions: tuple[str, ...] = ()
    values: tuple[object, ...] = ()

    def __and__(self, other: "Part") -> "Part":
        return Part(conditions=self.conditions + other.conditions, values=self.values + other.values)

    @property
    def text(self) -> str:
        return " AND ".join(self.conditions) or "true"


def condition(text: str, *values: object) -> Part:
    return Part(conditions=(text,), values=values)


def find(query: TaskQuery) -> TaskPage:
    """Find a page in at most three statements, and one more for an account."""
    floor = _floor(query)
    wanted = _wanted(query) & (condition("t.id >= %s", floor) if floor else Part())
    found = _ids(query, wanted)
    shown = found[:PAGE]
    rows = Task.objects.filter(pk__in=shown).select_related("key__account", "channel").order_by("-pk")
    is_cut = len(found) <= PAGE and floor is not None
    older = floor if is_cut else shown[-1] if len(found) > PAGE else None
    return TaskPage(tasks=tuple(rows), older=older, is_cut=is_cut)


def _ids(query: TaskQuery, wanted: Part) -> list[str]:
    if query.status is not None and query.status in LIVE:
        return _select(_living(query.status) & wanted)
    if query.account_id is None or query.key_id is not None:
        return _select(wanted)
    keys = ApiKey.objects.filter(account=query.account_id).order_by("-pk")
    key_ids = list(keys.values_list("pk", flat=True)[:MOST_KEYS])
    return _select_of_keys(key_ids, wanted)


# Live tasks are few and have partial indexes, which SQLite uses only with these conditions.
LIVING = {
    "queued": "t.id IN (SELECT l.id FROM tasks_task l WHERE l.status = 'queued' AND l.open_routes_id > 0)",
    "running": "t.id IN (SELECT l.id FROM tasks_task l WHERE l.status = 'running' AND l.worker_id > '')",
}


def _living(status: str) -> Part:
    return condition(f"t.status = '{status}'" if sql.is_postgresql() else LIVING[status])


NEWEST = f"SELECT t.id FROM tasks_task t WHERE {{where}} ORDER BY t.id DESC LIMIT {PAGE + 1}"


def _select(part: Part) -> list[str]:
    return sql.column(NEWEST.format(where=part.text), part.values)


def _select_of_keys(key_ids: Sequence[int], part: Part) -> list[str]:
    """Select the newest tasks of each key by index, then the newest of those."""
    if not key_ids:
        return []
    each = [condition("t.key_id = %s", key_id) & part for key_id in key_ids]
    parts = " UNION ALL ".join(f"SELECT id FROM ({NEWEST.format(where=one.text)}) k" for one in each)
    values = [value for one in each for value in one.values]
    return sql.column(f"SELECT id FROM ({parts}) found ORDER BY id DESC LIMIT {PAGE + 1}", values)


def _wanted(query: TaskQuery) -> Part:
    part = _range(query)
    for name, value in _filters(query):
        part &= condition(f"t.{name} = %s", value)
    if query.since:
        part &= condition("t.created_at >= %s", sql.moment(query.since))
    if query.until:
        part &= condition("t.created_at < %s", sql.moment(query.until))
    return part


def _filters(query: TaskQuery) -> Iterator[tuple[str, object]]:
    """Yield the filters that no index range covers."""
    if query.status and query.status not in LIVE:
        yield "status", query.status
    if query.account_id is not None and query.status in LIVE:
        yield "account_id", query.account_id
    for name, value in (("modality", query.modality), ("model_name", query.model), ("channel_id", query.channel_id)):
        if value is not None:
            yield name, value


def _range(query: TaskQuery) -> Part:
    """Build the conditions that the indexes by key and id cover."""
    part = Part() if query.key_id is None else condition("t.key_id = %s", query.key_id)
    if query.before:
        part &= condition("t.id < %s", query.before)
    if query.since:
        part &= condition("t.id >= %s", ids.task_id_floor(query.since.timestamp() - CLOCK_SLACK_SECONDS))
    if query.until:
        part &= condition("t.id < %s", ids.task_id_floor(query.until.timestamp() + CLOCK_SLACK_SECONDS))
    return part


def _floor(query: TaskQuery) -> str | None:
    """Find the id at which a filtered scan stops; None if it reaches the end first."""
    if query.status in LIVE or not any(_filters(query)):
        return None
    part = _range(query)
    statement = f"SELECT t.id FROM tasks_task t WHERE {part.text} ORDER BY t.id DESC LIMIT 1 OFFSET {SCANNED - 1}"
    return next(iter(sql.column(statement, part.values)), None)
