"""The windows of budgets, UTC days and months, in Python and as SQL expressions."""

from datetime import date
from typing import Literal

from common import sql

BudgetWindow = Literal["day", "month"]


def first_day(window: BudgetWindow, day: date) -> date:
    """Of the window that the day lies in."""
    return day if window == "day" else day.replace(day=1)


def as_date(text: str) -> str:
    """A text of an ISO date as the databases store dates."""
    return f"CAST({text} AS date)" if sql.is_postgresql() else text


def today() -> str:
    return "(statement_timestamp() AT TIME ZONE 'UTC')::date" if sql.is_postgresql() else "date('now')"


def month_of(day: str) -> str:
    if sql.is_postgresql():
        return f"date_trunc('month', ({day})::timestamp)::date"
    return f"substr({day}, 1, 8) || '01'"


def starts_on(day: str) -> str:
    """The first day of the window `period` that a day lies in."""
    return f"CASE period WHEN 'day' THEN {day} ELSE {month_of(day)} END"


def day_of_hold() -> str:
    """Of a row `h` of the holds."""
    day = "(h.created_at AT TIME ZONE 'UTC')::date" if sql.is_postgresql() else "substr(h.created_at, 1, 10)"
    return f"COALESCE(h.budget_day, {day})"
