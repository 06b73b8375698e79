"""Parser and representation of budgets in commands: `day=10,month=100`, in USD."""

from dataclasses import dataclass

from accounts.models import Account, ApiKey
from billing import budgets
from common import money
from desk.commands.command import refusal, usd

NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLimits:
    """Spending limits of a UTC day and month in micro-USD; None is no limit."""

    day_micros: int | None = None
    month_micros: int | None = None


def parse(argument: str, value: object) -> BudgetLimits:
    """Parse a budget; either part may be omitted, and `none` omits both. Raises CommandError."""
    if value == NONE:
        return BudgetLimits()
    found: dict[str, int] = {}
    for part in str(value).split(","):
        window, _, amount = part.strip().partition("=")
        if window not in ("day", "month") or window in found:
            raise refusal(argument, value, "is not of the form day=USD,month=USD, either of which may be left out")
        found[window] = usd(argument, amount)
        if found[window] < 0:
            raise refusal(argument, value, "is negative")
    return BudgetLimits(day_micros=found.get("day"), month_micros=found.get("month"))


def give(holder: Account | ApiKey, limits: BudgetLimits) -> None:
    """Set both limits; None removes one."""
    budgets.set_limits(holder, day_micros=limits.day_micros, month_micros=limits.month_micros)


def show(holder: Account | ApiKey) -> dict[str, object]:
    return {"day": _shown(holder.budget_day_micros), "month": _shown(holder.budget_month_micros)}


def _shown(micros: int | None) -> object:
    return None if micros is None else money.usd(micros)
