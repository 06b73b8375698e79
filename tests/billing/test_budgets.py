"""Budgets: what counts in which window, who is refused, and what it costs."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection

from accounts.models import Account, ApiKey
from billing import budgets, relayed_calls, seals
from billing.budget_standing import BudgetStanding
from billing.models import Hold
from common.errors import InsufficientBalance
from tests.billing import relayed_steps
from tests.billing.budget_steps import kept, let_a_month_pass, limit, month_before, today, used
from tests.rows import IssuedKey, make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db
POSTGRESQL = connection.vendor == "postgresql"
DOLLAR = 1_000_000


@pytest.fixture(autouse=True)
def books(db: None):
    yield
    assert steps.breaches() == []


def refused(key: IssuedKey, estimated: int) -> str:
    """The message of the refusal, empty where there is none."""
    relayed_steps.process()
    (refusal,) = relayed_calls.reserve([relayed_steps.new_call(key, estimated)])
    assert refusal is None or isinstance(refusal, InsufficientBalance)
    return refusal.message if refusal else ""


def end(call, actual: int | None) -> None:
    assert relayed_calls.end([relayed_steps.ending(call, actual)]) == [True]


def test_without_a_budget_nothing_is_counted(key):
    call = relayed_steps.opened(key, 500)
    hold = Hold.objects.get(reference=call.call_id)
    assert (hold.key_id, hold.budget_day) == (key.id, None)
    end(call, 100)
    assert (kept(), budgets.standing(key.account.pk, key.id)) == ({}, [])


def test_an_estimate_counts_until_its_actual_cost_takes_its_place(key):
    limit(key.account, day="1", month="2")
    limit(key.record, day="3", month="4")
    charged, returned = relayed_steps.opened(key, 500), relayed_steps.opened(key, 70)
    names = ("account day", "account month", "key day", "key month")
    assert used(key) == dict.fromkeys(names, 570)
    assert Hold.objects.get(reference=charged.call_id).budget_day == today()
    end(charged, 400)
    assert used(key) == dict.fromkeys(names, 470)
    end(returned, None)
    assert used(key) == dict.fromkeys(names, 400)


def test_what_comes_back_later_goes_to_the_window_that_it_was_taken_from(key):
    limit(key.account, day="1", month="1")
    charged, returned, kept_open = (relayed_steps.opened(key, amount) for amount in (500, 70, 7))
    let_a_month_pass()
    then, now = month_before(today()).isoformat(), today().isoformat()
    relayed_steps.opened(key, 20)
    end(charged, 100)
    end(returned, None)
    was = {f"account {then}": 107, f"account {then[:7]}": 107}
    assert kept() == {**was, f"account {now}": 20, f"account {now[:7]}": 20}
    assert used(key) == {"account day": 20, "account month": 20}
    end(kept_open, 5)
    assert kept()[f"account {then}"] == 105


def test_a_hold_that_midnight_overtook_counts_in_the_day_that_its_budget_was_read_in(key):
    limit(key.record, day="1", month="1")
    call = relayed_steps.opened(key, 500)
    Hold.objects.update(created_at=steps.clock() + timedelta(days=31))
    assert steps.breaches() == []
    limit(key.account, month="1")
    assert set(used(key).values()) == {500}
    end(call, 100)
    assert set(used(key).values()) == {100}


@pytest.mark.parametrize("whose", ["account", "record"])
def test_a_budget_that_is_set_later_counts_what_was_spent_before(key, whose):
    other = make_key(key.account, "another")
    relayed_steps.ended(key, 5 * DOLLAR)
    let_a_month_pass()
    seals.seal()  # says which entries are of before the month
    relayed_steps.ended(key, 2 * DOLLAR)
    end(relayed_steps.opened(key, 500), None)
    open_one = relayed_steps.opened(key, DOLLAR)
    relayed_steps.ended(other, 30)
    limit(getattr(key, whose), day="4", month="4")
    spent = 3 * DOLLAR + (30 if whose == "account" else 0)
    assert set(used(key).values()) == {spent}
    assert "$4.00" in refused(key, 4 * DOLLAR - spent + 1)
    assert refused(key, 4 * DOLLAR - spent) == ""
    end(open_one, None)  # it was opened when nothing was counted
    assert set(used(key).values()) == {3 * DOLLAR}


def test_a_budget_that_is_removed_forgets_and_is_counted_anew(key):
    limit(key.account, day="1", month="1")
    call = relayed_steps.opened(key, 500)
    limit(key.account, day="1")
    assert used(key) == {"account day": 500}
    assert len(kept()) == 1
    limit(key.account)
    assert (kept(), Account.objects.get().has_budgets) == ({}, False)
    end(call, 100)
    limit(key.account, month="1")
    assert used(key) == {"account month": 100}


def test_an_amount_may_be_changed_at_any_time(key):
    limit(key.account, day="1")
    relayed_steps.opened(key, 900_000)
    assert refused(key, 200_000)
    limit(key.account, day="1.1")
    assert refused(key, 200_000) == ""
    limit(key.account, day="0.5")
    (standing,) = budgets.standing(key.account.pk, None)
    assert (standing.used_micros, standing.remaining_micros) == (1_100_000, 0)
    assert refused(key, 0)


def test_a_budget_is_of_its_holder_alone(key, other_key):
    sibling = make_key(key.account, "sibling")
    limit(key.record, day="0")
    assert refused(key, 1)
    assert refused(sibling, 1) == ""
    assert Hold.objects.get().budget_day is None  # nothing limits the sibling
    limit(key.record)
    limit(key.account, month="0")
    assert refused(key, 1)
    assert refused(sibling, 1)
    assert refused(other_key, 1) == ""


def test_a_batch_is_judged_with_running_totals(key, other_key):
    limit(key.account, day="0.0001")
    limit(key.record, month="0.00007")
    sibling = make_key(key.account, "sibling")
    relayed_steps.process()
    wanted = [(key, 60), (key, 11), (key, 10), (sibling, 31), (sibling, 30), (other_key, 9_999), (sibling, 1)]
    outcomes = relayed_calls.reserve([relayed_steps.new_call(who, amount) for who, amount in wanted])
    assert [outcome is None for outcome in outcomes] == [True, False, True, False, True, True, False]
    assert used(key) == {"account day": 100, "key month": 70}


def test_a_refusal_names_the_budget_that_renews_last(key):
    limit(key.account, day="0.5", month="30")
    midnight, month = (b.renews_at for b in budgets.standing(key.account.pk, None))
    assert refused(key, 600_000) == (
        "The day budget of the account is $0.50. $0.50 of it are left, and this call may cost $0.60. "
        f"The budget renews at {midnight:%Y-%m-%d}T00:00:00Z."
    )
    limit(key.record, month="0.25")
    relayed_steps.opened(key, 240_000)
    assert refused(key, 600_000) == (
        "The month budget of the API key is $0.25. $0.01 of it are left, and this call may cost $0.60. "
        f"The budget renews at {month:%Y-%m}-01T00:00:00Z."
    )


def test_windows_end_with_the_utc_day_and_month():
    def renews(window: str, day: date) -> datetime:
        fields = {"holder": "key", "holder_id": 1, "limit_micros": 1, "used_micros": 0}
        return BudgetStanding(window=window, day=day, **fields).renews_at

    assert renews("day", date(2026, 12, 31)) == renews("month", date(2026, 12, 1)) == datetime(2027, 1, 1, tzinfo=UTC)
    assert renews("month", date(2028, 2, 29)) == renews("day", date(2028, 2, 29)) == datetime(2028, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("amount", [-1, 10**15 + 1])
def test_no_amount_of_money_is_no_budget(key, amount):
    with pytest.raises(ValueError, match=str(amount)):
        budgets.set_limits(key.record, day_micros=None, month_micros=amount)


def test_a_stale_copy_moves_no_figure(key):
    account, record = Account.objects.get(), ApiKey.objects.get()
    limit(key.record, day="1")
    relayed_steps.ended(key, 500)
    account.max_running = record.max_running = 7
    account.save()
    record.save()
    assert (Account.objects.get().balance_micros, Account.objects.get().has_budgets) == (9_999_500, True)
    assert (ApiKey.objects.get().budget_day_micros, ApiKey.objects.get().max_running) == (DOLLAR, 7)


@pytest.mark.parametrize(("is_set", "reserving", "ending"), [(False, (2, 4), (3, 7)), (True, (4, 6), (4, 8))])
def test_only_a_budget_costs_statements(key, is_set, reserving, ending):
    relayed_steps.ended(key)
    if is_set:
        limit(key.record, month="1")
    call = relayed_steps.new_call(key)
    with steps.captured() as statements:
        relayed_calls.reserve([call])
    assert len(statements) == reserving[0 if POSTGRESQL else 1], "\n".join(statements)
    with steps.captured() as statements:
        relayed_calls.end([relayed_steps.ending(call)])
    assert len(statements) == ending[0 if POSTGRESQL else 1], "\n".join(statements)


@pytest.mark.skipif(not POSTGRESQL, reason="one statement on PostgreSQL alone")
def test_calls_of_accounts_with_budgets_are_not_ended_in_passing(key, other_key):
    limit(key.record, month="1")
    calls = [relayed_steps.opened(who) for who in (key, other_key)]
    assert relayed_calls.end_free([relayed_steps.ending(call) for call in calls]) == {calls[1].call_id}


def test_a_hold_that_names_no_key_counts_for_the_account(key):
    call = relayed_steps.opened(key, 500)
    Hold.objects.update(key_id=None)
    limit(key.account, day="1")
    limit(key.record, day="1")
    end(call, 100)
    assert used(key) == {"account day": 100, "key day": 0}
