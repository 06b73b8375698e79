"""create_account and credit_account."""

import io
import re

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Account
from billing.models import LedgerEntry

pytestmark = pytest.mark.django_db

NO_MONEY = ["nan", "-inf", "1e30", "1e999999", "1e99999999999999999999", "1000000000.01", "ten", "", "0x10", "１€"]


def test_an_account_opens_with_its_credit_and_limits(run):
    answer = run("create_account", "acme", "--credit", "2.5", "--max-queued", "7", "--max-running", "0")
    account = Account.objects.get()
    assert answer == {
        "id": account.pk,
        "name": "acme",
        "billing": "balance",
        "balance": 2.5,
        "held": 0,
        "max_queued": 7,
        "max_running": 0,
        "budget": {"day": None, "month": None},
    }
    assert (account.balance_micros, account.max_queued, account.max_running) == (2_500_000, 7, 0)


def test_an_account_has_the_documented_limits_and_no_money_by_default(run):
    answer = run("create_account", "acme")
    assert (answer["max_queued"], answer["max_running"], answer["balance"]) == (200, 50, 0)
    assert not LedgerEntry.objects.exists()


def test_a_small_amount_is_a_plain_number_in_json_and_in_lines(db):
    outputs = [io.StringIO(), io.StringIO()]
    call_command("create_account", "--json", "acme", "--credit", "0.00001", stdout=outputs[0])
    call_command("create_account", "other", "--credit", "0.00001", stdout=outputs[1])
    assert '"balance": 0.00001,' in outputs[0].getvalue()
    assert "balance: 0.00001\n" in outputs[1].getvalue()


def test_an_account_can_be_on_subscription_billing(run):
    assert run("create_account", "acme", "--billing", "subscription")["billing"] == "subscription"


def test_a_name_is_taken_once(run):
    run("create_account", "acme", "--credit", "1")
    with pytest.raises(CommandError, match="NAME"):
        run("create_account", "acme", "--credit", "1")
    assert Account.objects.get().balance_micros == 1_000_000


def test_an_unusable_name_is_refused(refusal):
    for name in ("", " ", "a" * 201, "a\0b", "a\nb", "\udc80"):
        assert refusal("create_account", name).startswith("NAME: "), repr(name)
    assert not Account.objects.exists()


@pytest.mark.parametrize("option", ["--max-queued", "--max-running"])
def test_a_limit_is_a_whole_number(refusal, option):
    for value in ("-1", "2147483648", "1.5", "many", "", "١", "1_0"):
        assert refusal("create_account", "acme", f"{option}={value}").startswith(f"{option}: "), value
    assert not Account.objects.exists()


def test_an_impossible_opening_credit_opens_no_account(refusal):
    for usd in (*NO_MONEY, "-1"):
        assert refusal("create_account", "acme", f"--credit={usd}").startswith("--credit: "), usd
    assert not Account.objects.exists()


def test_an_unknown_billing_is_refused(run):
    with pytest.raises(CommandError, match="--billing"):
        run("create_account", "acme", "--billing", "barter")


def test_keywords_meet_the_same_checks(db):
    call_command("create_account", "acme", credit=1.5, max_queued=3, stdout=io.StringIO())
    assert Account.objects.get().balance_micros == 1_500_000
    with pytest.raises(CommandError, match="--max-queued"):
        call_command("create_account", "beta", max_queued=-1)


def test_a_credit_is_booked_with_its_reason(run, acme):
    answer = run("credit_account", "acme", "2.5", "--reason", "invoice 7")
    assert (answer["amount"], answer["balance"]) == (2.5, 12.5)
    legs = LedgerEntry.objects.filter(reference=answer["reference"])
    assert {(leg.book, leg.amount_micros, leg.reason) for leg in legs} == {
        ("customer", 2_500_000, "invoice 7"),
        ("funding", -2_500_000, "invoice 7"),
    }


def test_a_negative_credit_takes_money_out(run, acme):
    assert run("credit_account", "acme", "-4.25", "--reason", "refund")["balance"] == 5.75


def test_two_equal_credits_are_two_bookings(run, acme):
    run("credit_account", "acme", "1", "--reason", "top-up")
    assert run("credit_account", "acme", "1", "--reason", "top-up")["balance"] == 12


def test_an_impossible_credit_books_nothing(refusal, acme):
    before = LedgerEntry.objects.count()
    for usd in (*NO_MONEY, "0", "-0", "0.0000001"):
        assert re.match("USD|usd", refusal("credit_account", "--reason", "gift", "acme", "--", usd)), usd
    assert LedgerEntry.objects.count() == before


def test_a_credit_needs_a_reason(refusal, acme):
    for reason in ("", " ", "r" * 501, "a\0"):
        assert refusal("credit_account", "acme", "1", f"--reason={reason}").startswith("--reason: "), reason[:9]


def test_a_credit_needs_an_account(refusal, acme):
    for name in ("nobody", "", "a\0"):
        assert refusal("credit_account", name, "1", "--reason", "gift").startswith("NAME: "), name
