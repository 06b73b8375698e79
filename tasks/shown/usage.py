"""A key's own spend: by day and model, with the account's balance (contract section 4, an addition).

What has ended never changes. So the sums up to the oldest task that still may are remembered, and a request reads only
what came after them; the first one in a process reads all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from accounts.authentication import Caller
from billing import budget_standing, budgets
from common import ids, sql
from common.bounded_cache import BoundedCache
from common.money import usd
from tasks.shown.listing import CLOCK_SLACK_SECONDS, EARLIEST

REMEMBERED_KEYS = 200
SETTLES_SECONDS = 60
Group = tuple[str, str, str]
Sums = dict[Group, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledUsage:
    """Tasks and micro-USD by (day, model, modality) of all tasks created before a moment, all of which have ended."""

    until: datetime = EARLIEST
    sums: Sums = field(default_factory=dict)


_settled: BoundedCache[int, SettledUsage] = BoundedCache(REMEMBERED_KEYS)


def forget() -> None:
    """As in a new process; ids repeat where tests roll back."""
    _settled.clear()


def of(caller: Caller) -> dict[str, Any]:
    """{object, balance, held, currency, budgets, total, by_day, by_model}; costs in USD, days in UTC."""
    sums = _sums(caller)
    by_day = _merged(((day,), figures) for (day, _, _), figures in sums.items())
    by_model = _merged(((model, modality), figures) for (_, model, modality), figures in sums.items())
    return {
        "object": "usage",
        "currency": "USD",
        "balance": usd(caller.balance_micros),
        "held": usd(caller.held_micros),
        "budgets": budget_standing.shown(budgets.standing(caller.account_id, caller.key_id)),
        "total": _figures(*_merged(((), figures) for figures in sums.values()).get((), (0, 0))),
        "by_day": [{"date": day, **_figures(*by_day[day,])} for (day,) in sorted(by_day, reverse=True)],
        "by_model": [
            {"model": model, "modality": modality, **_figures(*figures)}
            for (model, modality), figures in sorted(by_model.items())
        ],
    }


def _sums(caller: Caller) -> Sums:
    """Of all the key's tasks. What has settled meanwhile is remembered."""
    known = _settled.get(caller.key_id) or SettledUsage()
    mine = [caller.account_id, caller.key_id, SETTLES_SECONDS]
    until = sql.as_moment(sql.value(UNTIL.format(before=sql.later("-1 * %s")), mine))
    floor = ids.task_id_floor(known.until.timestamp() - CLOCK_SLACK_SECONDS) if known.sums else ""
    since, mark = sql.moment(known.until), sql.moment(until)
    rows = sql.fetch(SUMS.format(day=sql.utc_day("created_at")), [mark, caller.key_id, floor, since])
    settled = _merged([*known.sums.items(), *_of_rows(row for row in rows if row[3])])
    _settled.put(caller.key_id, SettledUsage(until=max(until, known.until), sums=settled))
    return _merged([*settled.items(), *_of_rows(row for row in rows if not row[3])])


# No task appears any more that is older than a minute: a submission has ten seconds.
UNTIL = """
SELECT min(at) FROM (
    SELECT min(created_at) AS at FROM tasks_task
    WHERE account_id = %s AND key_id = %s AND status IN ('queued', 'running')
    UNION ALL SELECT {before}
) moments
"""
SUMS = """
SELECT {day} AS day, model_name, modality, created_at < %s AS is_settled, count(*), COALESCE(sum(actual_micros), 0)
FROM tasks_task WHERE key_id = %s AND id > %s AND created_at >= %s GROUP BY 1, 2, 3, 4
"""


def _of_rows(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Group, tuple[int, int]]]:
    return [((day, model, modality), (int(tasks), int(micros))) for day, model, modality, _, tasks, micros in rows]


def _merged(parts: Iterable[tuple[Any, tuple[int, int]]]) -> dict[Any, tuple[int, int]]:
    sums: dict[Any, tuple[int, int]] = {}
    for group, (tasks, micros) in parts:
        before = sums.get(group, (0, 0))
        sums[group] = before[0] + tasks, before[1] + micros
    return sums


def _figures(tasks: int, micros: int) -> Mapping[str, Any]:
    return {"tasks": tasks, "cost": usd(micros)}
