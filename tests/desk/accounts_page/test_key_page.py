"""The page of a key: what it opens, its buttons, and the form in which its account is named."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from accounts import keys
from accounts.models import Account, ApiKey
from tests.desk.sensitive import browser

pytestmark = pytest.mark.django_db

NO_CHOICES = {"plan_choices-TOTAL_FORMS": "0", "plan_choices-INITIAL_FORMS": "0"}
ISSUE = {"name": "app", "binding": "task", "reason": "order 12", "max_queued": "1", "max_running": "1", **NO_CHOICES}


def address(key, action=""):
    if action:
        return reverse("admin:accounts_apikey_do", args=[key.id, action])
    return reverse("admin:accounts_apikey_change", args=[key.id])


def test_a_key_is_disabled_and_enabled_with_a_reason(operator, acme_key):
    assert address(acme_key, "enable") not in operator.get(address(acme_key)).content.decode()
    operator.post(address(acme_key, "disable"), {"reason": "leaked"})
    assert ApiKey.objects.get().disabled_at is not None
    text = operator.get(address(acme_key)).content.decode()
    assert "grants no access: it is disabled" in text
    assert address(acme_key, "disable") not in text
    assert operator.post(address(acme_key, "enable"), {"reason": ""}).status_code == 200
    operator.post(address(acme_key, "enable"), {"reason": "was not"})
    assert ApiKey.objects.get().disabled_at is None
    assert list(LogEntry.objects.order_by("id").values_list("change_message", flat=True)) == [
        "Disabled. leaked",
        "Enabled. was not",
    ]


def test_enabling_is_as_good_as_issuing(acme_key):
    keys.disable(acme_key.record)
    assert browser().post(address(acme_key, "enable"), {"reason": "x"}).status_code == 403
    assert ApiKey.objects.get().disabled_at is not None
    browser("issue_keys").post(address(acme_key, "enable"), {"reason": "x"})
    assert ApiKey.objects.get().disabled_at is None


@pytest.mark.parametrize("said", ["acme", "its id"])
def test_an_account_is_named_or_given_by_its_id(operator, acme, said):
    operator.post(reverse("admin:accounts_apikey_add"), {**ISSUE, "account": acme.pk if said == "its id" else said})
    assert ApiKey.objects.get().account == acme


def test_an_account_whose_name_is_a_number_is_found_by_it(operator, acme):
    other = Account.objects.create(name=str(acme.pk))
    operator.post(reverse("admin:accounts_apikey_add"), {**ISSUE, "account": str(acme.pk)})
    assert ApiKey.objects.get().account == other


@pytest.mark.parametrize("said", ["nobody", "9" * 30, "-1", "²", ""])
def test_an_account_that_is_not_there_is_an_error_at_its_field(operator, acme, said):
    answer = operator.post(reverse("admin:accounts_apikey_add"), {**ISSUE, "account": said})
    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors["account"]


def test_the_form_is_filled_in_with_the_account_that_it_was_opened_from(operator, acme):
    text = operator.get(f"{reverse('admin:accounts_apikey_add')}?account={acme.pk}").content.decode()
    assert 'name="account" value="acme"' in text
    assert '<option value="acme">' in text


def test_an_expiry_is_entered_in_one_field(operator, acme_key):
    fields = {"name": "key-1", "max_queued": "1", "max_running": "1", "expires_at": "2027-01-02T03:04:05", **NO_CHOICES}
    operator.post(address(acme_key), fields)
    assert ApiKey.objects.get().expires_at.isoformat() == "2027-01-02T03:04:05+00:00"
    assert 'value="2027-01-02T03:04:05"' in operator.get(address(acme_key)).content.decode()
