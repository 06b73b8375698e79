"""Budgets are set on the pages of accounts and keys, in USD and with a reason, by those who are finance."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from accounts.models import Account, ApiKey
from desk.accounts_page.budget_action import BudgetForm
from tests.tasks import steps

pytestmark = pytest.mark.django_db


def do(row):
    return reverse(f"admin:accounts_{row._meta.model_name}_do", args=[row.pk, "budgets"])


def page(client, row):
    return client.get(reverse(f"admin:accounts_{row._meta.model_name}_change", args=[row.pk])).content.decode()


def test_an_account_and_a_key_get_budgets_and_show_what_is_used(operator, key, image_model):
    steps.submitted(key)
    account, record = key.account, key.record
    assert operator.post(do(account), {"day": "$1,000.50", "month": "", "reason": "order 7"}).status_code == 302
    operator.post(do(record), {"day": "0.10", "month": "2", "reason": "trial"})
    assert Account.objects.get().budget_day_micros == 1_000_500_000
    assert ApiKey.objects.get().budget_month_micros == 2_000_000
    assert "$0.04 of $1,000.50" in page(operator, account)
    shown = page(operator, record)
    assert "$0.04 of $1,000.50" in shown
    assert "$0.04 of $0.10" in shown
    assert list(LogEntry.objects.order_by("id").values_list("change_message", flat=True)) == [
        "Budget: $1,000.50 a day. order 7",
        "Budget: $0.10 a day, $2.00 a month. trial",
    ]
    assert 'value="0.10"' in operator.get(do(record)).content.decode()
    operator.post(do(record), {"day": "", "month": "", "reason": "over"})
    assert ApiKey.objects.get().budget_day_micros is None
    assert steps.breaches() == []


@pytest.mark.parametrize("text", ["-1", "ten", "1e30", "nan", "12,50", "0,5"])
def test_what_is_no_budget_is_told_at_its_field(text):
    assert BudgetForm({"day": text, "month": "", "reason": "x"}).errors["day"]


def test_without_a_reason_nothing_is_set(operator, key):
    assert operator.post(do(key.account), {"day": "1", "month": "", "reason": ""}).status_code == 200
    assert Account.objects.get().budget_day_micros is None


@pytest.mark.parametrize(("group", "code"), [("viewer", 403), ("operator", 403), ("finance", 302)])
def test_budgets_are_finances(key, group, code):
    user = User.objects.create_user("eve", is_staff=True)
    user.groups.set(Group.objects.filter(name=group))
    client = Client()
    client.force_login(user)
    for row in (key.account, key.record):
        assert client.post(do(row), {"day": "1", "month": "", "reason": "x"}).status_code == code
        assert (do(row) in page(client, row)) == (code == 302)
