"""Steps with budgets: set them, read them, and let months go by."""

from datetime import UTC, date, datetime, timedelta

from accounts.models import Account, ApiKey
from billing import budgets
from billing.models import BudgetSum, Hold
from common import money
from tests.rows import IssuedKey
from tests.tasks import steps


def limit(holder: Account | ApiKey, *, day: str | None = None, month: str | None = None) -> None:
    """In USD."""
    day_micros, month_micros = (None if usd is None else money.micros(usd) for usd in (day, month))
    budgets.set_limits(holder, day_micros=day_micros, month_micros=month_micros)


def used(key: IssuedKey) -> dict[str, int]:
    """What is used of each budget that concerns the key, in micro-USD: `account day` and so on."""
    return {f"{b.holder} {b.window}": b.used_micros for b in budgets.standing(key.account.pk, key.id)}


def kept() -> dict[str, int]:
    """Every sum that is kept, by its window: `account 2026-11-23` is of a day, `account 2026-11` of a month."""
    lengths = {"day": 10, "month": 7}
    return {f"{s.holder} {str(s.starts_on)[: lengths[s.period]]}": s.spent_micros for s in BudgetSum.objects.all()}


def today() -> date:
    return steps.clock().date()


def month_before(day: date) -> date:
    """The last day of the month before."""
    return day.replace(day=1) - timedelta(days=1)


def let_a_month_pass() -> None:
    """What was reserved so far moves to the last day of the month before its own, and so do the sums."""
    for total in BudgetSum.objects.order_by("starts_on"):
        earlier = month_before(total.starts_on)
        total.starts_on = earlier if total.period == "day" else earlier.replace(day=1)
        total.save()
    for hold in Hold.objects.all():
        hold.created_at = datetime.combine(month_before(hold.created_at.date()), hold.created_at.time(), UTC)
        hold.budget_day = hold.budget_day and month_before(hold.budget_day)
        hold.save()
