"""How budgets stand: their limits, and the sums of the windows that it is now."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal

from billing import budget_windows
from billing.budget_windows import BudgetWindow
from common import moments, money, sql

HolderKind = Literal["account", "key"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStanding:
    """A budget that is set, as it stands in the window that the UTC day lies in."""

    holder: HolderKind
    holder_id: int
    window: BudgetWindow
    day: date
    limit_micros: int
    used_micros: int

    @property
    def starts_on(self) -> date:
        return budget_windows.first_day(self.window, self.day)

    @property
    def remaining_micros(self) -> int:
        """Never below zero, though an overrun is charged beyond the limit."""
        return max(0, self.limit_micros - self.used_micros)

    @property
    def renews_at(self) -> datetime:
        """When the next window begins."""
        first = self.starts_on + timedelta(days=1 if self.window == "day" else 31)
        return datetime.combine(first if self.window == "day" else first.replace(day=1), time(), UTC)


def shown(standings: Iterable[BudgetStanding]) -> list[dict[str, Any]]:
    """Budgets as both usage endpoints show them, those of the account first; amounts in USD."""
    return [
        {
            "holder": budget.holder,
            "window": budget.window,
            "limit": money.usd(budget.limit_micros),
            "used": money.usd(budget.used_micros),
            "remaining": money.usd(budget.remaining_micros),
            "renews_at": moments.iso(budget.renews_at),
        }
        for budget in sorted(standings, key=lambda b: (b.holder, b.window))
    ]


def query(account_ids: Collection[int], key_ids: Collection[int]) -> tuple[str, list[int]]:
    """The query of how the budgets stand that these have, and its parameters; `standings` reads them."""
    statement = STANDING.format(
        today=budget_windows.today(),
        starts_on=budget_windows.starts_on(budget_windows.today()),
        limit="CASE period WHEN 'day' THEN budget_day_micros ELSE budget_month_micros END",
        accounts=sql.places(account_ids),
        keys=sql.places(key_ids),
    )
    return statement, [*account_ids, *key_ids]


STANDING = """
SELECT b.holder, b.holder_id, b.period, CAST(b.today AS text) AS today, b.limit_micros,
    COALESCE(s.spent_micros, 0) AS used_micros
FROM (
    SELECT 'account' AS holder, id AS holder_id, period, {today} AS today, {starts_on} AS starts_on,
        {limit} AS limit_micros
    FROM accounts_account CROSS JOIN (SELECT 'day' AS period UNION ALL SELECT 'month') AS p WHERE id IN ({accounts})
    UNION ALL
    SELECT 'key', id, period, {today}, {starts_on}, {limit}
    FROM accounts_apikey CROSS JOIN (SELECT 'day' AS period UNION ALL SELECT 'month') AS p WHERE id IN ({keys})
) AS b LEFT JOIN billing_budgetsum s
    ON s.holder = b.holder AND s.holder_id = b.holder_id AND s.period = b.period AND s.starts_on = b.starts_on
WHERE b.limit_micros IS NOT NULL
"""


def standings(rows: Iterable[tuple[Any, ...]]) -> list[BudgetStanding]:
    """Of rows of `standing_query`."""
    return [
        BudgetStanding(
            holder=holder,
            holder_id=int(holder_id),
            window=window,
            day=date.fromisoformat(today),
            limit_micros=int(limit),
            used_micros=int(used),
        )
        for holder, holder_id, window, today, limit, used in rows
    ]
