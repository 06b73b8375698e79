"""Figures of ended tasks, for pages: what is folded, and what ended since, so that they are exact at any moment.

Two statements each, whatever the number of tasks. What is folded is read together with its cursor, and the events after
that are added. They are few unless the janitor stands still or catches up: then the last ones are missing
(`is_behind`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from common import sql
from tasks.figures import sums
from tasks.figures.sums import BOUNDS

TAIL = 2_000
"""So many events after the cursor are added up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Tasks of one model, channel and outcome that ended on a UTC day, or in the time that begins at a moment.

    `model` is its name today, or the one that was sent where that is gone; `channel_id` is None where there was none,
    or it is gone. `outcome` is the status. `cost_micros` is the own cost that was known at the end. `durations` counts
    the tasks by the buckets of `BOUNDS`, in seconds from submission to end, and one more. `waited_ms` is the time
    before their first start, of all together.
    """

    at: date | datetime
    model: str
    modality: str
    channel_id: int | None
    outcome: str
    tasks: int
    earned_micros: int
    cost_micros: int
    durations: tuple[int, ...]
    waited_ms: int = 0


def days(since: date, until: date) -> list[Figure]:
    """By UTC day, from one to the other and with both."""
    table, at, found_at = "tasks_dayfigure", "f.at", sql.utc_day("f.at")
    border = [since.isoformat(), until.isoformat()]
    return _read(
        folded=(SUMMED.format(at=at, source=table, where="f.at >= %s AND f.at <= %s"), border),
        tail=(SUMMED.format(at=found_at, source="{tail}", where=f"{found_at} >= %s AND {found_at} <= %s"), border),
    )


def minutes(since: datetime) -> list[Figure]:
    """By minute, of those that began at the moment or later. They are kept for some days only."""
    return _by_moment("f.at", [], since)


def spans(since: datetime, *, seconds: int, split: datetime) -> list[Figure]:
    """By spans of so many seconds, which begin at their multiples of Unix time. The one with the moment `split` in it
    is parted there: what follows begins at `split`."""
    at = f"CASE WHEN f.at >= %s AND {_span(seconds)} < %s THEN %s ELSE {_span(seconds)} END"
    return _by_moment(at, [sql.moment(split)] * 3, since)


def is_behind() -> bool:
    """Whether more has happened since the last folding than is added up."""
    return bool(sql.fetch(BEHIND, [TAIL]))


# Summed before it is named: a day has tens of thousands of minutes, models and durations.
SUMMED = f"""
SELECT f.at, COALESCE(m.name, f.model_name) AS model, f.modality, c.id AS channel_id, f.outcome, f.bucket,
    {", ".join(f"f.{name}" for name in sums.ADDED)}
FROM (
    SELECT {{at}} AS at, f.model_name, f.modality, f.channel_id, f.outcome, f.bucket,
        {", ".join(f"CAST(sum(f.{name}) AS bigint) AS {name}" for name in sums.ADDED)}
    FROM {{source}} f WHERE {{where}} GROUP BY 1, 2, 3, 4, 5, 6
) f LEFT JOIN catalog_modelname n ON n.modality = f.modality AND n.name = f.model_name
LEFT JOIN catalog_mediamodel m ON m.id = n.model_id LEFT JOIN catalog_channel c ON c.id = f.channel_id
"""
# The cursor in the same picture as what was folded up to it: a row of no bucket.
WITH_CURSOR = """
{folded} UNION ALL SELECT NULL, '', '', NULL, '', -1, last_event_id, 0, 0, 0 FROM tasks_figurecursor
"""
TAIL_EVENTS = "(SELECT id, task_id, status, at FROM tasks_taskevent WHERE id > %s ORDER BY id LIMIT %s)"
BEHIND = """
SELECT 1 FROM tasks_taskevent WHERE id > COALESCE((SELECT last_event_id FROM tasks_figurecursor), 0)
ORDER BY id LIMIT 1 OFFSET %s
"""


def _by_moment(at: str, parameters: Sequence[Any], since: datetime) -> list[Figure]:
    statement = SUMMED.format(at=at, source="{source}", where="f.at >= %s")
    return _read(
        folded=(statement.format(source="tasks_minutefigure"), [*parameters, sql.moment(since)]),
        tail=(statement.format(source="{tail}"), [*parameters, sql.moment(since)]),
        leading=len(parameters),
    )


def _span(seconds: int) -> str:
    if sql.is_postgresql():
        return f"date_bin('{seconds} seconds', f.at, TIMESTAMPTZ '1970-01-01 00:00:00+00')"
    begin = f"CAST(strftime('%%s', f.at) AS integer) / {seconds} * {seconds}"
    return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', {begin}, 'unixepoch')"


def _read(*, folded: tuple[str, Sequence[Any]], tail: tuple[str, Sequence[Any]], leading: int = 0) -> list[Figure]:
    """From two statements with their parameters; so many of the tail's come before its events."""
    statement, parameters = folded
    found = sql.records(WITH_CURSOR.format(folded=statement), parameters)
    cursor = next((row.tasks for row in found if row.bucket < 0), 0)
    statement, given = tail
    parameters = [*given[:leading], cursor, TAIL, *given[leading:]]
    found += sql.records(statement.format(tail=f"({sums.of_events(TAIL_EVENTS)})"), parameters)
    return _figures(row for row in found if row.bucket >= 0)


def _figures(rows: Iterable[Any]) -> list[Figure]:
    """One for each time, model, channel and outcome, the oldest first."""
    buckets: dict[tuple[Any, ...], dict[int, list[int]]] = {}
    for row in rows:
        key = _moment(row.at), row.model, row.modality, row.channel_id or 0, row.outcome
        counts = buckets.setdefault(key, {}).setdefault(row.bucket, [0, 0, 0, 0])
        for number, name in enumerate(sums.ADDED):
            counts[number] += getattr(row, name)
    return [_figure(key, found) for key, found in sorted(buckets.items())]


def _figure(key: tuple[Any, ...], buckets: dict[int, list[int]]) -> Figure:
    at, model, modality, channel_id, outcome = key
    tasks, earned, cost, waited = (sum(counts[number] for counts in buckets.values()) for number in range(4))
    return Figure(
        at=at,
        model=model,
        modality=modality,
        channel_id=channel_id or None,
        outcome=outcome,
        tasks=tasks,
        earned_micros=earned,
        cost_micros=cost,
        durations=tuple(buckets.get(number, [0])[0] for number in range(len(BOUNDS) + 1)),
        waited_ms=waited,
    )


def _moment(value: Any) -> date | datetime:
    """Days and moments as raw statements return them: SQLite gives text."""
    if isinstance(value, str) and len(value) == 10:
        return date.fromisoformat(value)
    return value if type(value) is date else sql.as_moment(value).astimezone(UTC)
