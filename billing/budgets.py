"""Budgets: what an account or one of its keys may spend in a UTC day or month, strictly, as every limit.

An estimate counts from its reservation on, and its actual cost from its settlement on, in the window that it was
reserved in. All of it happens while the account is locked; what nobody has set a budget for costs no statement.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from django.db import transaction

from accounts.models import Account, ApiKey
from billing import budget_standing, budget_sums, ledger
from billing.budget_standing import BudgetStanding, HolderKind
from billing.budget_windows import BudgetWindow
from billing.ledger import AccountState
from common import moments, money, sql
from common.errors import InsufficientBalance, InsufficientQuota
from pages import words

WHOSE = {"account": "account", "key": "API key"}


class Budgets:
    """The budgets that concern some holds of locked accounts, with what the transaction has taken of them so far."""

    def __init__(self, standings: Iterable[BudgetStanding] = ()) -> None:
        self._of: dict[tuple[HolderKind, int], list[BudgetStanding]] = {}
        self._taken = Counter[BudgetStanding]()
        for budget in standings:
            self._of.setdefault((budget.holder, budget.holder_id), []).append(budget)

    def refusal(self, account_id: int, key_id: int, amount: int, *, of_what: str) -> InsufficientBalance | None:
        """Why this much more of the key's may not be reserved; of several budgets it names the one that renews last."""
        short = [b for b in self._both(account_id, key_id) if self._left(b) < amount]
        if not short:
            return None
        budget = max(short, key=lambda b: b.renews_at)
        error = InsufficientQuota if of_what == "call" else InsufficientBalance
        return error(
            f"The {budget.window} budget of the {WHOSE[budget.holder]} is {words.usd(budget.limit_micros)}. "
            f"{words.usd(max(0, self._left(budget)))} of it are left, and this {of_what} may cost "
            f"{words.usd(amount)}. The budget renews at {moments.iso(budget.renews_at, timespec='seconds')}."
        )

    def take(self, account_id: int, key_id: int, amount: int) -> None:
        """A hold of this amount will be opened."""
        for budget in self._both(account_id, key_id):
            self._taken[budget] += amount

    def day(self, account_id: int, key_id: int) -> str | None:
        """The UTC day that a hold of theirs counts in, to be frozen on it; None where neither has a budget."""
        for budget in self._both(account_id, key_id):
            return budget.day.isoformat()
        return None

    def write(self) -> None:
        """Add what was taken to the sums, with the holds. One statement, where anything was taken."""
        if self._taken:
            budget_sums.add(self._taken)
            self._taken = Counter()

    def _both(self, account_id: int, key_id: int) -> list[BudgetStanding]:
        return self._of.get(("key", key_id), []) + self._of.get(("account", account_id), [])

    def _left(self, budget: BudgetStanding) -> int:
        return budget.limit_micros - budget.used_micros - self._taken[budget]


def read(accounts: Mapping[int, AccountState], keys: Iterable[tuple[int, int]]) -> Budgets:
    """The budgets of locked accounts and of their keys (account id, key id). One statement, where any is set."""
    limited = {account_id for account_id, state in accounts.items() if state.has_budgets}
    if not limited:
        return Budgets()
    return Budgets(_found(limited, {key_id for account_id, key_id in keys if account_id in limited}))


def standing(account_id: int, key_id: int | None) -> list[BudgetStanding]:
    """The budgets of the account, and of the key where one is given, as they stand now. One statement."""
    return _found({account_id}, set() if key_id is None else {key_id})


def allow(account_id: int, key_id: int, amount: int) -> bool:
    """Whether this much more of the key's could be reserved now. One statement."""
    return Budgets(standing(account_id, key_id)).refusal(account_id, key_id, amount, of_what="task") is None


def _found(account_ids: set[int], key_ids: set[int]) -> list[BudgetStanding]:
    return budget_standing.standings(sql.fetch(*budget_standing.query(account_ids, key_ids)))


def set_limits(holder: Account | ApiKey, *, day_micros: int | None, month_micros: int | None) -> None:
    """Give an account or a key these budgets; None is none. What it has spent in their windows already counts, open
    holds included. Opens its own transaction, and locks the account. Raises ValueError for an amount below zero or
    beyond a billion USD."""
    for amount in (day_micros, month_micros):
        if amount is not None and not 0 <= amount <= money.LARGEST:
            raise ValueError(f"{amount} micro-USD is no budget")
    limits: dict[BudgetWindow, int | None] = {"day": day_micros, "month": month_micros}
    kind: HolderKind = "account" if isinstance(holder, Account) else "key"
    account_id = holder.pk if isinstance(holder, Account) else holder.account_id
    with transaction.atomic():
        ledger.lock_accounts([account_id])
        holder.budget_day_micros, holder.budget_month_micros = day_micros, month_micros
        holder.save(update_fields=["budget_day_micros", "budget_month_micros"])
        sql.run(MARK, [account_id])
        budget_sums.forget(kind, holder.pk, [window for window, limit in limits.items() if limit is None])
        if kept := [window for window, limit in limits.items() if limit is not None]:
            budget_sums.begin(kind, holder.pk, account_id, kept)


# What every submission reads with the lock of the account: whether it must look for budgets at all.
MARK = """
UPDATE accounts_account AS a SET has_budgets =
    a.budget_day_micros IS NOT NULL OR a.budget_month_micros IS NOT NULL OR EXISTS (
        SELECT 1 FROM accounts_apikey k WHERE k.account_id = a.id
            AND (k.budget_day_micros IS NOT NULL OR k.budget_month_micros IS NOT NULL))
WHERE a.id = %s
"""
