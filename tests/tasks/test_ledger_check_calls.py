"""The proof of the books for relayed calls: silent when they are right, and it finds every kind of breach."""

import pytest
from django.db.models import F

from billing import relayed_calls
from billing.models import Hold, LedgerEntry, RelayedCall, RelayUsage
from common import token_usage
from tasks import ledger_check
from tests.billing import relayed_steps
from tests.rows import make_key

HOLD = "every relayed call has one hold of its estimate"
TOGETHER = "a relayed call and its hold are open, settled or released together"
CHARGE = "a settled call has one charge of its actual cost, any other call none"
USAGE = "the usage of a key, day and model = sum of its settled calls"
BOUND = "no relayed call is charged more than its hold"
RULES = (HOLD, BOUND, TOGETHER, CHARGE, USAGE)


@pytest.fixture
def calls(key) -> dict[str, str]:
    """A call in every state, by state; and two settled ones more, of which one is free."""
    steps = relayed_steps
    found = {state: steps.opened(key) for state in ("open", "settled", "released")}
    relayed_calls.end([steps.ending(found["settled"]), steps.ending(found["released"], None)])
    steps.ended(make_key(key.account, "second"), 70, model="gpt-5-mini")
    found["free"] = steps.opened(key)
    relayed_calls.end([steps.ending(found["free"], 0)])
    return {state: call.call_id for state, call in found.items()}


def broken() -> set[tuple[str, str]]:
    return {(breach.rule, breach.subject) for breach in ledger_check.check().breaches}


def test_right_books_have_no_breach(calls):
    report = ledger_check.check()
    assert (report.breaches, report.relayed_calls, report.open_holds) == ((), 5, 1)


def test_a_call_without_its_hold_is_found(calls):
    Hold.objects.filter(reference=calls["released"]).delete()
    assert broken() == {(HOLD, calls["released"])}


@pytest.mark.parametrize("field", ["amount_micros", "account", "key_id"])
def test_a_hold_of_another_amount_account_or_key_is_found(calls, other_account, field):
    wrong = {"amount_micros": 1, "account": other_account, "key_id": 0}[field]
    Hold.objects.filter(reference=calls["released"]).update(**{field: wrong})
    assert broken() == {(HOLD, calls["released"])}


def test_a_charge_above_the_hold_is_found(calls):
    RelayedCall.objects.filter(id=calls["settled"]).update(estimated_micros=149)
    Hold.objects.filter(reference=calls["settled"]).update(amount_micros=149)
    assert broken() == {(BOUND, calls["settled"])}


@pytest.mark.parametrize(("call", "state"), [("open", "released"), ("settled", "open"), ("released", "settled")])
def test_a_hold_in_another_state_is_found(calls, call, state):
    Hold.objects.filter(reference=calls[call]).update(state=state)
    assert (TOGETHER, calls[call]) in broken()


def test_a_charge_of_another_amount_is_found(calls):
    RelayedCall.objects.filter(id=calls["settled"]).update(actual_micros=1)
    RelayUsage.objects.filter(model="gpt-5").update(cost_micros=1)
    assert broken() == {(CHARGE, calls["settled"])}


def test_a_settled_call_without_its_charge_is_found(calls):
    RelayedCall.objects.filter(id=calls["free"]).update(actual_micros=7)
    RelayUsage.objects.filter(model="gpt-5").update(cost_micros=F("cost_micros") + 7)
    assert broken() == {(CHARGE, calls["free"])}


@pytest.mark.parametrize("call", ["open", "released", "free"])
def test_a_charge_for_any_other_call_is_found(calls, account, call):
    legs = {"reference": calls[call], "kind": "charge"}
    LedgerEntry.objects.create(**legs, book="customer", account=account, amount_micros=-7)
    LedgerEntry.objects.create(**legs, book="revenue", amount_micros=7)
    type(account).objects.filter(pk=account.pk).update(balance_micros=F("balance_micros") - 7)
    assert broken() == {(CHARGE, calls[call])}


@pytest.mark.parametrize("field", ["calls", "cost_micros", *token_usage.COUNTS])
def test_usage_that_was_added_up_wrongly_is_found(calls, key, field):
    usage = RelayUsage.objects.get(model="gpt-5")
    RelayUsage.objects.filter(pk=usage.pk).update(**{field: F(field) + 1})
    assert broken() == {(USAGE, f"key {key.id} {usage.day} gpt-5")}


@pytest.mark.parametrize("is_kept", [True, False])
def test_usage_of_no_call_and_calls_without_usage_are_found(calls, key, is_kept):
    usage = RelayUsage.objects.get(model="gpt-5")
    if is_kept:
        RelayUsage.objects.create(key=key.record, day="2026-01-01", model="gpt-5", calls=1, cost_micros=0)
        assert broken() == {(USAGE, f"key {key.id} 2026-01-01 gpt-5")}
    else:
        usage.delete()
        assert broken() == {(USAGE, f"key {key.id} {usage.day} gpt-5")}
