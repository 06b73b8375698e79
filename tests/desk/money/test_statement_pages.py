"""The pages of a statement: who sees them, what they say, and the file behind them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from accounts.models import Account
from common import months
from desk.money import statement
from tests.billing import relayed_steps
from tests.billing.entries import book

pytestmark = pytest.mark.django_db

FORMULA = '=HYPERLINK("https://evil.example")'


@pytest.fixture
def customer():
    """Opened two months ago, with a credit and a debit in October."""
    account = Account.objects.create(name="Acme & <Sons>")
    Account.objects.filter(pk=account.pk).update(created_at=datetime(2026, 9, 5, tzinfo=UTC))
    book(account, datetime(2026, 10, 3, tzinfo=UTC), 2_000_000, reference="wire-1", reason=FORMULA)
    book(account, datetime(2026, 10, 4, tzinfo=UTC), -500_000, reference="wire-2", reason="<b>sent back</b>")
    return account


def page(client, account, month="2026-10", name="month"):
    return client.get(reverse(f"admin:accounts_account_{name}", args=[account.pk, month]))


def test_a_month_says_what_it_began_and_ended_with_and_why(operator, customer):
    text = page(operator, customer).content.decode()
    assert "October 2026 began with $0.00 and ended with <strong>$1.50</strong>" in text
    assert "&lt;b&gt;sent back&lt;/b&gt;" in text
    assert "Acme &amp; &lt;Sons&gt;" in text
    for other in ("2026-09", "2026-11"):
        assert reverse("admin:accounts_account_month", args=[customer.pk, other]) in text


def test_an_empty_month_says_so(operator, customer):
    assert (
        "Nothing moved in September 2026: the balance stayed $0.00."
        in page(operator, customer, "2026-09").content.decode()
    )


def test_the_running_month_is_the_one_that_is_shown_first(operator, key):
    call = relayed_steps.ended(key, 150, model="gpt-<5>")
    first = operator.get(reverse("admin:accounts_account_statement", args=[key.account.pk]), follow=True)
    text = first.content.decode()
    assert first.redirect_chain[0][0].endswith(f"{months.of(call.created_at)}/")
    assert 'is now at <strong><data value="9.99985" title="$9.99985">$10.00</data></strong>' in text
    assert "gpt-&lt;5&gt;" in text


def test_the_file_is_a_download_and_holds_no_formula(operator, customer):
    answer = page(operator, customer, name="csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="statement-acme-sons-2026-10.csv"'
    text = b"".join(answer.streaming_content).decode()
    assert "\"'=HYPERLINK" in text
    assert text.splitlines()[-1].endswith(",1.50")


def test_the_file_is_read_a_page_at_a_time(operator, customer, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(statement, "PAGE", 1)
    lines = page(operator, customer, name="csv").streaming_content
    with django_assert_num_queries(5):  # the balance before and where the month lies, and one page
        told = [next(lines) for _ in range(3)]
    with django_assert_num_queries(2):
        told.extend(lines)
    assert [line.split(b",")[2] for line in told] == [b"reference", b"", b"wire-1", b"wire-2", b""]


def test_what_is_no_month_or_no_account_is_not_found(operator, customer):
    for month in ("2026-13", "1999-01", "x"):
        assert page(operator, customer, month).status_code == 404
    assert operator.get(f"/admin/accounts/account/{customer.pk + 9}/statement/2026-10/").status_code == 404


def test_only_who_may_see_the_ledger_sees_statements(customer):
    user = User.objects.create_user("eve", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_account"))
    client = Client()
    client.force_login(user)
    for name in ("month", "csv"):
        assert page(client, customer, name=name).status_code == 403


def test_a_statement_asks_for_little(operator, customer, django_assert_max_num_queries):
    for number in range(30):
        at = datetime(2026, 10, 5, tzinfo=UTC) + timedelta(hours=number)
        book(customer, at, 5, reference=f"wire-x{number}")
    with django_assert_max_num_queries(8):
        page(operator, customer)
