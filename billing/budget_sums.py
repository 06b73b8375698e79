"""The sums that budgets are measured by: what an account or a key has spent in a UTC day or month. They are read and
written while the account is locked.

A sum is kept only where its budget is set; then it is that of all holds of its window: what they hold while they are
open, what was charged once they are settled, nothing where they were released. The window of a hold never changes. It
is its `budget_day`, or, where no budget was set when it was opened, the day on which it was.
"""

from collections.abc import Collection, Mapping
from datetime import date

from billing import budget_windows
from billing.budget_standing import BudgetStanding, HolderKind
from billing.budget_windows import BudgetWindow
from common import sql
from common.database import writes


def add(amounts: Mapping[BudgetStanding, int]) -> None:
    """What was taken of these budgets, in their windows. One statement."""
    rows = [_row(b.holder, b.holder_id, b.window, b.day, amount) for b, amount in amounts.items()]
    sql.run(_put("billing_budgetsum.spent_micros + excluded.spent_micros"), [sql.pack(rows)])


def _row(holder: HolderKind, holder_id: int, window: BudgetWindow, day: date, spent: int) -> dict[str, object]:
    starts_on = budget_windows.first_day(window, day).isoformat()
    return {"holder": holder, "holder_id": holder_id, "period": window, "starts_on": starts_on, "spent": spent}


def _put(spent: str) -> str:
    """The statement that writes sums; `spent` is what becomes of one that is there."""
    rows = sql.rows("holder text, holder_id bigint, period text, starts_on text, spent bigint")
    return PUT.format(starts_on=budget_windows.as_date("r.starts_on"), rows=rows, spent=spent)


PUT = """
INSERT INTO billing_budgetsum (holder, holder_id, period, starts_on, spent_micros)
SELECT r.holder, r.holder_id, r.period, {starts_on}, r.spent FROM {rows} WHERE true
ON CONFLICT (holder, holder_id, period, starts_on) DO UPDATE SET spent_micros = {spent}
"""


def close(actuals: Mapping[str, int]) -> None:
    """What these holds were opened with, by reference, is replaced by what is charged, in the windows that it was taken
    from. One statement; where no sum of the window is kept, it changes nothing."""
    day, starts_on = budget_windows.day_of_hold(), budget_windows.starts_on("c.day")
    writes.write_together(
        "reference text, actual bigint",
        [{"reference": reference, "actual": actual} for reference, actual in actuals.items()],
        [CLOSE.format(day=day, starts_on=starts_on, rows="{rows}")],
    )


CLOSE = """
UPDATE billing_budgetsum AS s SET spent_micros = s.spent_micros + changed.micros FROM (
    SELECT holder, CASE holder WHEN 'account' THEN c.account_id ELSE c.key_id END AS holder_id, period,
        {starts_on} AS starts_on, CAST(sum(c.micros) AS bigint) AS micros
    FROM (
        SELECT h.account_id, h.key_id, {day} AS day, r.actual - h.amount_micros AS micros
        FROM {rows} JOIN billing_hold h ON h.reference = r.reference
    ) AS c
    CROSS JOIN (SELECT 'account' AS holder UNION ALL SELECT 'key') AS o
    CROSS JOIN (SELECT 'day' AS period UNION ALL SELECT 'month') AS p
    GROUP BY 1, 2, 3, 4
) AS changed
WHERE s.holder = changed.holder AND s.holder_id = changed.holder_id AND s.period = changed.period
    AND s.starts_on = changed.starts_on
"""


def forget(holder: HolderKind, holder_id: int, windows: Collection[BudgetWindow]) -> None:
    """No sum of these windows is kept any more."""
    sql.run(
        f"DELETE FROM billing_budgetsum WHERE holder = %s AND holder_id = %s AND period IN ({sql.places(windows)})",
        [holder, holder_id, *windows],
    )


def begin(holder: HolderKind, holder_id: int, account_id: int, windows: Collection[BudgetWindow]) -> None:
    """Keep the sums of these windows from now on: what was spent in them already is counted. Two statements."""
    (spent,) = sql.records(
        SPENT.format(
            today=budget_windows.today(),
            month=budget_windows.month_of(budget_windows.today()),
            day=budget_windows.day_of_hold(),
            sealed_at="at AT TIME ZONE 'UTC'" if sql.is_postgresql() else "at",
            whose="" if holder == "account" else "AND h.key_id = %s",
        ),
        ([account_id] if holder == "account" else [account_id, holder_id]) * 2,
    )
    today, found = date.fromisoformat(spent.today), {"day": int(spent.day), "month": int(spent.month)}
    rows = [_row(holder, holder_id, window, today, found[window]) for window in windows]
    sql.run(_put("excluded.spent_micros"), [sql.pack(rows)])


# A seal that was made before the month began says which entries are older than that, so that they are not read.
SPENT = """
SELECT CAST({today} AS text) AS today, COALESCE(sum(CASE WHEN s.day = {today} THEN s.micros END), 0) AS day,
    COALESCE(sum(s.micros), 0) AS month
FROM (
    SELECT {day} AS day, h.amount_micros AS micros FROM billing_hold h
    WHERE h.account_id = %s AND h.state = 'open' {whose}
    UNION ALL
    SELECT {day}, -e.amount_micros FROM billing_ledgerentry e JOIN billing_hold h ON h.reference = e.reference
    WHERE e.account_id = %s AND e.kind = 'charge' AND e.book = 'customer' {whose}
        AND e.id > (SELECT COALESCE(max(last_entry_id), 0) FROM billing_ledgerseal WHERE {sealed_at} < {month})
) AS s WHERE s.day >= {month}
"""


def kept_and_spent() -> str:
    """The query that proves the sums: (holder, holder_id, period, starts_on, kept, spent), of which each sum that is
    kept has one row as it is, and rows of what its holds say."""
    return PROOF.format(day=budget_windows.day_of_hold(), starts_on=budget_windows.starts_on("h.day"))


PROOF = """
SELECT holder, holder_id, period, CAST(starts_on AS text) AS starts_on, spent_micros AS kept, 0 AS spent
FROM billing_budgetsum
UNION ALL
SELECT s.holder, s.holder_id, s.period, CAST(s.starts_on AS text), 0, w.micros
FROM billing_budgetsum s JOIN (
    SELECT holder, CASE holder WHEN 'account' THEN h.account_id ELSE h.key_id END AS holder_id, period,
        {starts_on} AS starts_on, sum(h.micros) AS micros
    FROM (
        SELECT h.account_id, h.key_id, {day} AS day,
            CASE h.state WHEN 'open' THEN h.amount_micros ELSE COALESCE(-e.amount_micros, 0) END AS micros
        FROM billing_hold h
        JOIN accounts_account a ON a.id = h.account_id AND a.has_budgets
        LEFT JOIN billing_ledgerentry e
            ON e.reference = h.reference AND e.kind = 'charge' AND e.book = 'customer' AND h.state <> 'open'
    ) AS h
    CROSS JOIN (SELECT 'account' AS holder UNION ALL SELECT 'key') AS o
    CROSS JOIN (SELECT 'day' AS period UNION ALL SELECT 'month') AS p
    GROUP BY 1, 2, 3, 4
) AS w ON w.holder = s.holder AND w.holder_id = s.holder_id AND w.period = s.period AND w.starts_on = s.starts_on
"""
