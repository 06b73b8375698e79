"""Holds, charges and credits: each moves the account and can happen once."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from accounts.models import Account
from billing import ledger
from billing.ledger import Reservation, UnbalancedHold
from billing.models import Hold, LedgerEntry
from common import sql
from tests.billing.closing import Closing, close_holds

SUBJECT = "call_1"


def figures(account: Account) -> tuple[int, int]:
    """(balance, held)"""
    account.refresh_from_db()
    return account.balance_micros, account.held_micros


def reserve(account: Account, amount: int, reference: str = SUBJECT) -> None:
    ledger.reserve([Reservation(reference=reference, account_id=account.pk, amount_micros=amount)])


def close(account: Account, actual: int | None, reference: str = SUBJECT) -> None:
    close_holds([Closing(reference=reference, account_id=account.pk, actual_micros=actual)])


def legs(reference: str = SUBJECT) -> list[tuple[str, str, int]]:
    rows = LedgerEntry.objects.filter(reference=reference).order_by("id")
    return list(rows.values_list("kind", "book", "amount_micros"))


def test_a_reservation_holds_the_money_and_moves_none(account):
    reserve(account, 400)
    assert figures(account) == (10_000_000, 400)
    assert legs() == []


def test_a_settlement_below_the_hold_returns_the_difference(account):
    reserve(account, 400)
    close(account, 150)
    assert figures(account) == (9_999_850, 0)
    assert legs() == [("charge", "customer", -150), ("charge", "revenue", 150)]


def test_a_settlement_above_the_hold_deducts_the_difference(account):
    reserve(account, 400)
    close(account, 900)
    assert figures(account) == (9_999_100, 0)


def test_an_overrun_is_deducted_even_below_zero(account):
    reserve(account, 10_000_000)
    close(account, 15_000_000)
    assert figures(account) == (-5_000_000, 0)


def test_a_settlement_of_zero_writes_no_entry(account):
    reserve(account, 400)
    close(account, 0)
    assert figures(account) == (10_000_000, 0)
    assert legs() == []
    assert Hold.objects.get().state == "settled"


def test_a_release_gives_all_back(account):
    reserve(account, 400)
    close(account, None)
    assert figures(account) == (10_000_000, 0)
    hold = Hold.objects.get()
    assert (hold.state, hold.amount_micros, legs()) == ("released", 400, [])
    assert hold.closed_at is not None


@pytest.mark.parametrize("again", [None, 0, 400])
def test_a_hold_closes_once(account, again):
    reserve(account, 400)
    close(account, 400)
    with pytest.raises(UnbalancedHold), transaction.atomic():
        close(account, again)
    assert figures(account) == (9_999_600, 0)
    assert len(legs()) == 2


def test_a_hold_that_was_never_opened_cannot_close(account):
    with pytest.raises(UnbalancedHold, match=SUBJECT), transaction.atomic():
        close(account, 400)
    assert figures(account) == (10_000_000, 0)


def test_one_unbalanced_hold_keeps_the_whole_list_open(account):
    reserve(account, 400)
    closings = [
        Closing(reference=reference, account_id=account.pk, actual_micros=100) for reference in (SUBJECT, "missing")
    ]
    with pytest.raises(UnbalancedHold, match="missing"), transaction.atomic():
        close_holds(closings)
    assert figures(account) == (10_000_000, 400)
    assert Hold.objects.get().state == "open"


def test_a_subject_is_reserved_once(account):
    reserve(account, 400)
    with pytest.raises(IntegrityError), transaction.atomic():
        reserve(account, 400)
    assert figures(account) == (10_000_000, 400)


def test_lists_are_summed_up_per_account(account, other_account):
    ledger.reserve(
        [
            Reservation(reference=f"call_{number}", account_id=owner.pk, amount_micros=100 * number)
            for number, owner in enumerate((account, other_account, account), start=1)
        ]
    )
    assert (figures(account)[1], figures(other_account)[1]) == (400, 200)
    close_holds(
        [
            Closing(reference="call_1", account_id=account.pk, actual_micros=70),
            Closing(reference="call_2", account_id=other_account.pk, actual_micros=None),
            Closing(reference="call_3", account_id=account.pk, actual_micros=300),
        ]
    )
    assert figures(account) == (9_999_630, 0)
    assert figures(other_account) == (10_000_000, 0)


def test_a_list_costs_as_many_statements_as_one(account, django_assert_num_queries):
    reservations = [Reservation(reference=f"c{n}", account_id=account.pk, amount_micros=5) for n in range(50)]
    with django_assert_num_queries(1 if sql.is_postgresql() else 2):
        ledger.reserve(reservations)
    closings = [Closing(reference=f"c{n}", account_id=account.pk, actual_micros=4) for n in range(50)]
    with django_assert_num_queries(2 if sql.is_postgresql() else 4):
        close_holds(closings)
    assert figures(account) == (9_999_800, 0)


def test_a_credit_books_both_legs_and_its_reason(account):
    ledger.credit(account.pk, 2_500_000, reference="wire-7", reason="bank transfer")
    assert figures(account) == (12_500_000, 0)
    assert legs("wire-7") == [("credit", "customer", 2_500_000), ("credit", "funding", -2_500_000)]
    assert set(LedgerEntry.objects.filter(reference="wire-7").values_list("reason", flat=True)) == {"bank transfer"}


def test_a_negative_credit_takes_money_out(account):
    ledger.credit(account.pk, -2_500_000, reference="refund-7", reason="refund")
    assert figures(account) == (7_500_000, 0)


def test_a_credit_of_zero_is_refused(account):
    with pytest.raises(ValueError, match="zero"):
        ledger.credit(account.pk, 0, reference="wire-7", reason="")


def test_a_credit_is_booked_once_per_reference(account):
    ledger.credit(account.pk, 1, reference="wire-7", reason="")
    with pytest.raises(ValueError, match="booked already"):
        ledger.credit(account.pk, 1, reference="wire-7", reason="")
    assert figures(account) == (10_000_001, 0)


def test_locking_reads_every_account_once(account, other_account):
    states = ledger.lock_accounts([other_account.pk, account.pk, account.pk])
    assert set(states) == {account.pk, other_account.pk}
    reserve(account, 400)
    assert ledger.lock_accounts([account.pk])[account.pk].available_micros == 9_999_600


@pytest.mark.parametrize(
    "statement", ["UPDATE billing_ledgerentry SET amount_micros = 1", "DELETE FROM billing_ledgerentry"]
)
def test_the_ledger_refuses_to_be_changed(account, statement):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        sql.run(statement)
    assert figures(account) == (10_000_000, 0)
    assert LedgerEntry.objects.count() == 2


def test_the_orm_cannot_change_the_ledger_either(account):
    entry = LedgerEntry.objects.first()
    entry.reason = "changed my mind"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        entry.save()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        entry.delete()


@pytest.mark.parametrize(
    ("book", "has_account", "amount"), [("customer", False, 5), ("revenue", True, 5), ("customer", True, 0)]
)
def test_the_database_refuses_a_malformed_leg(account, book, has_account, amount):
    with pytest.raises(IntegrityError), transaction.atomic():
        LedgerEntry.objects.create(
            reference="x", kind="charge", book=book, account=account if has_account else None, amount_micros=amount
        )


def test_the_database_refuses_a_negative_hold(account):
    with pytest.raises(IntegrityError), transaction.atomic():
        reserve(account, -1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Account.objects.filter(pk=account.pk).update(held_micros=-1)
