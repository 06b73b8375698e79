"""Money that a key may still spend: its account's balance, the holds of its own tasks, and budgets."""

from dataclasses import dataclass

from accounts.authentication import Caller
from billing import budgets
from billing.budget_standing import BudgetStanding
from common import sql


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendableBalance:
    """Balance and holds of the account, and the key's own (`own_*`), in micro-USD."""

    balance_micros: int
    held_micros: int
    own_tasks: int
    own_held_micros: int
    budgets: tuple[BudgetStanding, ...]

    @property
    def left_micros(self) -> int:
        return self.balance_micros - self.held_micros

    @property
    def nearly_spent(self) -> BudgetStanding | None:
        """Find the budget with the least left, if 80 % of it is used; None if the balance runs out first."""
        least = min(self.budgets, key=lambda budget: budget.remaining_micros, default=None)
        if least is None or least.remaining_micros >= self.left_micros:
            return None
        return least if 5 * least.remaining_micros <= least.limit_micros else None


def read(caller: Caller) -> SpendableBalance:
    """Read the balance in two statements."""
    ((tasks, held),) = sql.fetch(OWN_HOLDS, [caller.account_id, caller.key_id])
    found = budgets.standing(caller.account_id, caller.key_id)
    return SpendableBalance(
        balance_micros=caller.balance_micros,
        held_micros=caller.held_micros,
        own_tasks=int(tasks),
        own_held_micros=int(held),
        budgets=tuple(sorted(found, key=lambda budget: (budget.holder == "account", budget.window))),
    )


OWN_HOLDS = """
SELECT count(*), COALESCE(sum(amount_micros), 0) FROM billing_hold
WHERE account_id = %s AND state = 'open' AND key_id = %s
"""
