"""A general key's own usage: its settled calls by day and model, with the account's balance (contract section 10)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from billing import budget_standing, budgets
from common import sql
from common.money import usd
from common.token_usage import COUNTS

FIGURES = ("calls", *COUNTS, "cost_micros")


def of_key(key_id: int, account_id: int) -> dict[str, Any]:
    """{object, account, balance, held, currency, budgets, total, by_day, by_model}; costs in USD, days in UTC. From the
    aggregates: two statements, whatever the number of calls, and one more where there are budgets."""
    (account,) = sql.records(
        "SELECT name, balance_micros, held_micros, has_budgets FROM accounts_account WHERE id = %s", [account_id]
    )
    limits = budgets.standing(account_id, key_id) if account.has_budgets else []
    columns = ", ".join(FIGURES)
    rows = sql.records(f"SELECT day, model, {columns} FROM billing_relayusage WHERE key_id = %s", [key_id])
    by_day = _summed(rows, lambda row: str(row.day))
    by_model = _summed(rows, lambda row: str(row.model))
    return {
        "object": "usage",
        "account": account.name,
        "balance": usd(account.balance_micros),
        "held": usd(account.held_micros),
        "currency": "USD",
        "budgets": budget_standing.shown(limits),
        "total": _spent(_summed(rows, lambda row: "").get("", dict.fromkeys(FIGURES, 0))),
        "by_day": [{"date": day, **_spent(by_day[day])} for day in sorted(by_day, reverse=True)],
        "by_model": [
            {"model": model, "calls": sums["calls"], **{name: sums[name] for name in COUNTS}, "cost": _cost(sums)}
            for model, sums in sorted(by_model.items())
        ],
    }


def _summed(rows: Iterable[Any], group: Callable[[Any], str]) -> dict[str, dict[str, int]]:
    """The figures of the rows of each group, added up."""
    sums: dict[str, dict[str, int]] = {}
    for row in rows:
        found = sums.setdefault(group(row), dict.fromkeys(FIGURES, 0))
        for name in FIGURES:
            found[name] += getattr(row, name)
    return sums


def _spent(sums: Mapping[str, int]) -> dict[str, Any]:
    return {"calls": sums["calls"], "cost": _cost(sums)}


def _cost(sums: Mapping[str, int]) -> Any:
    return usd(sums["cost_micros"])
