"""What is left: the balance, what is held for the key's own tasks, and the budget that ends first."""

from datetime import date

import pytest

from billing.budget_standing import BudgetStanding
from console.usage import balance
from console.usage.balance import SpendableBalance
from tests.billing import budget_steps
from tests.rows import make_key
from tests.tasks import steps


@pytest.mark.django_db
def test_held_is_told_of_the_account_and_of_the_keys_own_tasks(key, image_model):
    second = make_key(key.account, "second")
    steps.submitted_many(key, 2)
    steps.submitted(second)
    found = balance.read(steps.admitted(key).caller)
    assert (found.own_tasks, found.own_held_micros, found.held_micros) == (2, 80_000, 120_000)
    assert found.left_micros == 10_000_000 - 120_000


@pytest.mark.django_db
def test_budgets_of_the_key_come_before_those_of_its_account(key):
    second = make_key(key.account, "second")
    budget_steps.limit(key.account, day="5", month="9")
    budget_steps.limit(key.record, month="2")
    budget_steps.limit(second.record, day="1")
    found = balance.read(steps.admitted(key).caller).budgets
    assert [(budget.holder, budget.window, budget.limit_micros) for budget in found] == [
        ("key", "month", 2_000_000),
        ("account", "day", 5_000_000),
        ("account", "month", 9_000_000),
    ]


def stood(*budgets, balance=1_000):
    return SpendableBalance(balance_micros=balance, held_micros=0, own_tasks=0, own_held_micros=0, budgets=budgets)


def budget(limit, used, window="day"):
    return BudgetStanding(
        holder="key", holder_id=1, window=window, day=date(2026, 11, 23), limit_micros=limit, used_micros=used
    )


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (stood(), None),
        (stood(budget(100, 79)), None),
        (stood(budget(100, 80)), 20),
        (stood(budget(100, 120)), 0),
        (stood(budget(100, 80), balance=20), None),
        (stood(budget(100, 90), budget(1_000, 995, "month")), 5),
    ],
    ids=["none", "far-from-it", "four-fifths", "overrun", "money-ends-first", "the-least-of-two"],
)
def test_the_budget_that_ends_first_is_named_when_it_is_nearly_spent(found, told):
    assert (found.nearly_spent and found.nearly_spent.remaining_micros) == told
