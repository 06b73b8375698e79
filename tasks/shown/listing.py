"""The list of a key's tasks: filters, and pages by cursor, newest first."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from common import ids, modalities, sql
from common.errors import InvalidRequest
from tasks.models import ENDED, LIVE
from tasks.origins import LISTED
from tasks.shown import representation
from tasks.shown.representation import TaskView

SCANNED = 20_000
LIMIT = 100
DEFAULT_LIMIT = 20
CLOCK_SLACK_SECONDS = 3600  # ids carry the web process's clock and only narrow the scan; created_at is the database's
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)  # every task lies between
EQUALS = {"status": (*LIVE, *ENDED), "modality": modalities.NAMES, "model": None}
RANGES = {"key", "cursor", "created_after", "created_before"}
Condition = tuple[str, list[object]]
PARAMETERS = (*EQUALS, "created_after", "created_before", "metadata.*", "limit", "cursor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    tasks: list[TaskView]
    next_cursor: str | None


def page(key_id: int, query: Mapping[str, str]) -> Page:
    """One page by the query's filters. Raises InvalidRequest naming the parameter.

    A page looks at SCANNED tasks at most, so one of a rare filter may hold fewer than asked for, or none; where the
    list goes on, it has a cursor all the same.
    """
    limit = page_size(query.get("limit"))
    conditions = {name: _condition(name, value) for name, value in query.items() if name != "limit"}
    # What the index by key and id answers; the living are few and have indexes of their own.
    ranges = {n: c for n, c in conditions.items() if n in RANGES or (n == "status" and query[n] in LIVE)}
    ranges["key"] = "t.key_id = %s", [key_id]
    filters = {name: condition for name, condition in conditions.items() if name not in ranges}
    filters["origin"] = f"t.origin IN ({sql.words(LISTED)})", []
    where, parameters = _filtered(ranges, filters, limit + 1) if len(filters) > 1 else _joined({**ranges, **filters})
    found = representation.find(where, [*parameters, limit + 1], suffix=" ORDER BY t.id DESC LIMIT %s")
    shown = found[:limit]
    last = shown[-1].id if len(found) > limit else None
    if len(filters) > 1 and not last and (end := _end(ranges)):
        last = min([end, *(task.id for task in shown)])  # what came meanwhile has moved the end up
    return Page(tasks=shown, next_cursor=_cursor(last) if last else None)


def _joined(conditions: Mapping[str, Condition]) -> tuple[str, list[object]]:
    parameters = [parameter for _, given in conditions.values() for parameter in given]
    return " AND ".join(condition for condition, _ in conditions.values()), parameters


# The inner list is read no further than the page needs. All but `metadata` stands in its index.
FILTERED = """
t.id IN (
    SELECT t.id FROM (
        SELECT t.id, t.status, t.modality, t.model_name, t.origin, t.metadata
        FROM tasks_task t WHERE {ranges} ORDER BY t.id DESC LIMIT %s
    ) t WHERE {filters} ORDER BY t.id DESC LIMIT %s
)
"""


def _filtered(ranges: Mapping[str, Condition], filters: Mapping[str, Condition], most: int) -> tuple[str, list[object]]:
    """Of the first SCANNED tasks those that pass the filters."""
    within, parameters = _joined(ranges)
    passing, more = _joined(filters)
    return FILTERED.format(ranges=within, filters=passing), [*parameters, SCANNED, *more, most]


def _end(ranges: Mapping[str, Condition]) -> str | None:
    """The id at which a page that filters stops looking; None where that would be past the key's first task."""
    where, parameters = _joined(ranges)
    statement = f"SELECT t.id FROM tasks_task t WHERE {where} ORDER BY t.id DESC LIMIT 1 OFFSET %s"
    return next(iter(sql.column(statement, [*parameters, SCANNED - 1])), None)


def _condition(name: str, value: str) -> Condition:
    if "\x00" in value or "\x00" in name:
        raise InvalidRequest(f"{name.replace(chr(0), '')}: NUL characters are not allowed.")
    if name in EQUALS:
        allowed = EQUALS[name]
        if allowed is not None and value not in allowed:
            raise InvalidRequest(f"{name}: must be one of {', '.join(allowed)}.")
        if value in LIVE and name == "status":
            return f"t.status = '{value}' AND t.open_routes_id > 0", []
        return f"t.{'model_name' if name == 'model' else name} = %s", [value]
    if name == "created_after":
        first = _next_millisecond(name, value)
        return "t.created_at >= %s AND t.id > %s", [sql.moment(first), _floor(first, -CLOCK_SLACK_SECONDS)]
    if name == "created_before":
        end = _next_millisecond(name, value, less=timedelta(microseconds=1))
        return "t.created_at < %s AND t.id < %s", [sql.moment(end), _floor(end, CLOCK_SLACK_SECONDS)]
    if name == "cursor":
        return "t.id < %s", [_id_of(value)]
    return _metadata(name.removeprefix("metadata."), value)


def _metadata(key: str, text: str) -> tuple[str, list[object]]:
    if sql.is_postgresql():
        return "t.metadata ->> %s = %s", [key, text]
    shown = "CASE e.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(e.value AS text) END"
    matches = f"CASE e.type WHEN 'real' THEN e.value = %s ELSE {shown} = %s END"
    return f"EXISTS (SELECT 1 FROM json_each(t.metadata) e WHERE e.key = %s AND {matches})", [key, _real(text), text]


def _real(text: str) -> float | None:
    """The number that JSON spells like this; SQLite's own text of one keeps 15 of its 17 digits."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if repr(number) == text else None


def page_size(text: str | None) -> int:
    """The parameter `limit` of a list. Raises InvalidRequest."""
    if text is None:
        return DEFAULT_LIMIT
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= LIMIT):
        raise InvalidRequest(f"limit: must be an integer from 1 to {LIMIT}.", param="limit")
    return int(text)


def _next_millisecond(name: str, text: str, *, less: timedelta = timedelta()) -> datetime:
    """The next whole one: tasks show milliseconds, PostgreSQL keeps microseconds; the filter is by what is shown."""
    try:
        given = datetime.fromisoformat(text)
        moment = (given if given.tzinfo else given.replace(tzinfo=UTC)).astimezone(UTC)
        moment = min(max(moment, EARLIEST), LATEST) - less
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000) + timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest(f"{name}: must be an ISO 8601 time such as 2026-11-21T09:00:00Z.") from error


def _floor(moment: datetime, slack_seconds: float) -> str:
    return ids.task_id_floor(moment.timestamp() + slack_seconds)


def _cursor(task_id: str) -> str:
    return base64.urlsafe_b64encode(task_id.encode()).decode().rstrip("=")


def _id_of(cursor: str) -> str:
    try:
        task_id = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (ValueError, binascii.Error):
        task_id = ""
    if not ids.is_task_id(task_id):
        raise InvalidRequest("cursor: is not one that this list has given out.")
    return task_id
