"""Refunds: part of a charge goes back to its account, once, and the books stay right."""

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Account
from billing import ledger, refunds
from billing.models import LedgerEntry
from billing.refunds import RefundRefused
from callbacks.models import Delivery
from tasks.models import Task, TaskEvent
from tests.tasks import steps

pytestmark = pytest.mark.django_db
HOOK = "https://hooks.example.com/"


@pytest.fixture
def charged(key, image_model) -> str:
    """A succeeded task that cost 40,000 micro-USD of 10 USD."""
    task = steps.start(key, steps.worker(), callback_url=HOOK)
    steps.end(task)
    return task.id


def refund(task_id: str, amount: int, reason: str = "The picture was black.") -> None:
    refunds.refund(task_id, amount, reason=reason, by="ada")


def balance() -> int:
    return Account.objects.get().balance_micros


def story(task_id: str) -> list[object]:
    """Everything but the books that a refund must leave as it is."""
    events = list(TaskEvent.objects.filter(task_id=task_id).values())
    return [Task.objects.filter(id=task_id).values().get(), events, list(Delivery.objects.values())]


def test_a_refund_moves_the_balance_and_nothing_of_the_task(charged):
    before = story(charged)
    refund(charged, 15_000)
    legs = LedgerEntry.objects.filter(reference=charged, kind="refund").order_by("id")
    said = "The picture was black."
    assert list(legs.values_list("book", "amount_micros", "reason")) == [
        ("customer", 15_000, said),
        ("revenue", -15_000, said),
    ]
    assert (balance(), refunds.of_task(charged), story(charged)) == (9_975_000, 15_000, before)
    assert steps.breaches() == []


def test_all_of_a_charge_can_be_refunded(charged):
    refund(charged, 40_000)
    assert balance() == 10_000_000
    assert steps.breaches() == []


def test_a_task_is_refunded_once(charged):
    refund(charged, 1)
    with pytest.raises(RefundRefused, match=r"refunded before: \$0.000001"):
        refund(charged, 1)
    assert balance() == 9_960_001


@pytest.mark.parametrize("amount", [-1, 0, 40_001])
def test_a_refund_is_above_zero_and_at_most_the_charge(charged, amount):
    with pytest.raises(RefundRefused, match=r"at most what was charged: \$0.04\."):
        refund(charged, amount)
    assert balance() == 9_960_000


@pytest.mark.parametrize("reason", ["", " \n", "x" * 501])
def test_a_refund_says_why(charged, reason):
    with pytest.raises(RefundRefused, match="needs a reason"):
        refund(charged, 1, reason)


def test_what_was_never_charged_is_not_refunded(key, image_model):
    failed = steps.start(key, steps.worker())
    steps.end(failed, "failed")
    for task_id in (failed.id, "task_0"):
        with pytest.raises(RefundRefused, match="Nothing was charged"):
            refund(task_id, 1)
    assert refunds.of_task(failed.id) == 0


def test_the_database_itself_keeps_a_second_refund_out(charged):
    refund(charged, 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        ledger.give_back(Account.objects.get().pk, 1, reference=charged, reason="again")


def test_of_refunds_at_once_one_is_booked(transactional_db, charged):
    def attempt() -> bool:
        try:
            refund(charged, 30_000)
        except RefundRefused:
            return False
        return True

    assert sorted(steps.at_once([attempt] * 8)) == [False] * 7 + [True]
    assert balance() == 9_990_000
    assert steps.breaches() == []
