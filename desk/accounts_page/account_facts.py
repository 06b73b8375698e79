"""Figures on the page of an account."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from accounts.models import Account
from billing import budgets
from billing.budget_standing import BudgetStanding
from common import months
from common.months import Month
from desk.accounts_page import key_facts
from desk.accounts_page.key_facts import KeyFacts
from desk.money import statement
from tasks.models import Task

MOST_MONTHS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """Figures of one account, money in micro-USD. `months` are the latest months, the running one first; `moved` is the
    running month's sum by kind of entry."""

    balance_micros: int
    held_micros: int
    queued: int
    running: int
    budgets: tuple[BudgetStanding, ...]
    keys: tuple[KeyFacts, ...]
    has_more_keys: bool
    months: tuple[Month, ...]
    moved: Mapping[str, int]

    @property
    def available_micros(self) -> int:
        return self.balance_micros - self.held_micros

    @property
    def charged_micros(self) -> int:
        return -self.moved.get("charge", 0)


def read(account: Account) -> AccountFacts:
    now = timezone.now()
    keys = key_facts.read_account(account.pk)
    live = Task.objects.filter(account=account)
    return AccountFacts(
        balance_micros=account.balance_micros,
        held_micros=account.held_micros,
        queued=live.filter(status="queued").count(),
        running=live.filter(status="running").count(),
        budgets=tuple(budgets.standing(account.pk, None)),
        keys=tuple(keys),
        has_more_keys=len(keys) == key_facts.MOST,
        months=tuple(months.between(account.created_at, now, most=MOST_MONTHS)),
        moved=statement.sums(account.pk, months.of(now)),
    )
