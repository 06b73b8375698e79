"""Which part of a key's spending a page is asked for: a month, and in it a day or a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from common import months
from common.errors import TaskNotFound
from common.months import Month

NO_MONTH = "That is no month. Months are written like 2026-11."
NO_DAY = "That is no day. Days are written like 2026-11-21."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`day` and `model` narrow the list of charges; the sums are of the whole month."""

    month: Month
    day: date | None = None
    model: str = ""


def read(query: Mapping[str, str], now: datetime) -> Asked:
    """Of a page's query; the running month where it names none. Raises TaskNotFound for what is none."""
    model = query.get("model", "")
    if text := query.get("day"):
        return Asked(month=month(text[:7]), day=_day(text), model=model)
    text = query.get("month", "")
    return Asked(month=month(text) if text else months.of(now), model=model)


def month(text: str) -> Month:
    """Raises TaskNotFound."""
    try:
        return months.parse(text)
    except ValueError as error:
        raise TaskNotFound(NO_MONTH) from error


def _day(text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise TaskNotFound(NO_DAY) from error
    if found.isoformat() != text:
        raise TaskNotFound(NO_DAY)
    return found
