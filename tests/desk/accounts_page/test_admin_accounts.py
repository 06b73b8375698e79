"""Accounts and keys in the admin: credits, secrets shown once, closing and rotating keys."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from accounts import authentication, keys
from accounts.models import Account, ApiKey, Group, KeySecret
from billing.models import LedgerEntry
from catalog.models import PlanChoice
from common.errors import AuthenticationError

pytestmark = pytest.mark.django_db

NO_CHOICES = {
    "plan_choices-TOTAL_FORMS": "0",
    "plan_choices-INITIAL_FORMS": "0",
}
ISSUE = {"binding": "task", "reason": "order 12"}
LIMITS = {"max_queued": "100", "max_running": "20"}


def credit_form(operator, account):
    address = reverse("admin:accounts_account_credit", args=[account.pk])
    page = operator.get(address).content.decode()
    return address, re.search(r'name="reference" value="([^"]+)"', page)[1]


def history():
    return list(LogEntry.objects.values_list("change_message", flat=True))


def shown_secret(answer):
    return re.search(r'id="secret">([^<]+)<', answer.content.decode())[1]


def opens(secret):
    return authentication.admit(f"Bearer {secret}").caller.key_id


def test_a_credit_is_booked_and_noted_and_so_is_a_debit(operator, acme):
    address, reference = credit_form(operator, acme)
    answer = operator.post(address, {"amount": "2.50", "reason": "invoice 7", "reference": reference}, follow=True)
    acme.refresh_from_db()
    assert acme.balance_micros == 12_500_000
    assert "$12.50" in answer.content.decode()
    assert history() == ["Booked $2.50: invoice 7"]
    address, reference = credit_form(operator, acme)
    operator.post(address, {"amount": "-3", "reason": "refund", "reference": reference})
    acme.refresh_from_db()
    assert acme.balance_micros == 9_500_000


def test_a_form_sent_twice_books_once(operator, acme):
    address, reference = credit_form(operator, acme)
    fields = {"amount": "1", "reason": "top-up", "reference": reference}
    assert operator.post(address, fields).status_code == 302
    answer = operator.post(address, fields)
    assert "already booked" in answer.content.decode()
    acme.refresh_from_db()
    assert acme.balance_micros == 11_000_000


def test_an_impossible_credit_is_shown_again(operator, acme):
    before = LedgerEntry.objects.count()
    address, reference = credit_form(operator, acme)
    for amount in ("", "nan", "1e30", "1e999999", "0", "ten", "1000000001"):
        answer = operator.post(address, {"amount": amount, "reason": "gift", "reference": reference})
        assert answer.status_code == 200, amount
    assert LedgerEntry.objects.count() == before


def test_a_forged_reference_books_nothing(operator, acme):
    address, _ = credit_form(operator, acme)
    assert operator.post(address, {"amount": "1", "reason": "r", "reference": "task_1"}).status_code == 200
    acme.refresh_from_db()
    assert acme.balance_micros == 10_000_000


def test_a_credit_of_an_unknown_account_is_not_found(operator):
    assert operator.get(reverse("admin:accounts_account_credit", args=[99])).status_code == 404


@pytest.mark.parametrize("name", ["accounts_account_credit", "accounts_apikey_rotate"])
def test_who_may_only_look_gets_no_forms(acme, acme_key, name):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__in=["view_account", "view_apikey"]))
    client = Client()
    client.force_login(viewer)
    row = acme if "account_credit" in name else acme_key.record
    assert client.post(reverse(f"admin:{name}", args=[row.pk]), {"grace_seconds": "0"}).status_code == 403


def test_a_balance_is_no_field(operator, acme):
    fields = {"name": "acme", "billing": "balance", **LIMITS, "balance_micros": "99", "held_micros": "99"}
    assert operator.post(reverse("admin:accounts_account_change", args=[acme.pk]), fields).status_code == 302
    acme.refresh_from_db()
    assert (acme.balance_micros, acme.held_micros) == (10_000_000, 0)


def test_a_new_account_starts_without_money(operator):
    operator.post(reverse("admin:accounts_account_add"), {"name": "beta", "billing": "balance", **LIMITS})
    assert Account.objects.get().balance_micros == 0


def test_a_new_key_shows_its_secret_once(operator, acme):
    fields = {"account": acme.pk, "name": "app", **ISSUE, "task_api": "on", **LIMITS, **NO_CHOICES}
    answer = operator.post(reverse("admin:accounts_apikey_add"), fields)
    secret = shown_secret(answer)
    key = ApiKey.objects.get()
    assert opens(secret) == key.pk
    assert history() == ["Issued: order 12"]
    assert "no-store" in answer["Cache-Control"]
    assert secret not in str(answer.cookies)
    for page in ("accounts_apikey_change", "accounts_apikey_history"):
        assert secret not in operator.get(reverse(f"admin:{page}", args=[key.pk])).content.decode()
    assert not any(secret in message for message in history())


def test_a_key_has_the_videos_api_where_it_is_ticked(operator, acme):
    issue = {"account": acme.pk, **ISSUE, "task_api": "on", **LIMITS, **NO_CHOICES}
    for name, tick in (("films", {"videos_api": "on"}), ("none", {})):
        operator.post(reverse("admin:accounts_apikey_add"), {**issue, "name": name, **tick})
    assert dict(ApiKey.objects.values_list("name", "videos_api")) == {"films": True, "none": False}


def test_a_general_key_has_no_videos_api(operator, acme):
    fields = {"account": acme.pk, "name": "chat", **ISSUE, "binding": "general", "videos_api": "on"}
    answer = operator.post(reverse("admin:accounts_apikey_add"), {**fields, **LIMITS, **NO_CHOICES})
    assert "Only a task key" in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_a_key_takes_a_plan_per_model(operator, acme, aurora, pro):
    row = {"plan_choices-0-model": aurora.pk, "plan_choices-0-plan": pro.pk, "plan_choices-TOTAL_FORMS": "1"}
    fields = {"account": acme.pk, "name": "app", **ISSUE, **LIMITS, **NO_CHOICES, **row}
    operator.post(reverse("admin:accounts_apikey_add"), fields)
    assert PlanChoice.objects.get().plan == pro


def test_a_task_key_has_no_group(operator, acme):
    group = Group.objects.create(name="text", platform="openai")
    fields = {"account": acme.pk, "name": "app", **ISSUE, "group": group.pk, **LIMITS, **NO_CHOICES}
    assert "Only a general key" in operator.post(reverse("admin:accounts_apikey_add"), fields).content.decode()
    assert not ApiKey.objects.exists()


def test_a_key_keeps_its_account_and_binding(operator, acme_key):
    other = Account.objects.create(name="beta")
    fields = {"name": "renamed", "account": other.pk, "binding": "general", **LIMITS, **NO_CHOICES}
    operator.post(reverse("admin:accounts_apikey_change", args=[acme_key.id]), fields)
    key = ApiKey.objects.get()
    assert (key.name, key.account, key.binding) == ("renamed", acme_key.account, "task")


def test_a_key_cannot_take_the_name_of_another(operator, acme_key):
    other = ApiKey.objects.create(account=acme_key.account, name="key-2")
    fields = {"name": "key-1", **LIMITS, **NO_CHOICES}
    answer = operator.post(reverse("admin:accounts_apikey_change", args=[other.pk]), fields)
    assert "with this name" in answer.content.decode()


def test_saving_a_key_issues_no_secret(operator, acme_key):
    operator.post(reverse("admin:accounts_apikey_change", args=[acme_key.id]), {"name": "x", **LIMITS, **NO_CHOICES})
    assert KeySecret.objects.count() == 1


def test_rotation_shows_the_new_secret_and_notes_it(operator, acme_key):
    address = reverse("admin:accounts_apikey_rotate", args=[acme_key.id])
    assert operator.get(address).status_code == 200
    secret = shown_secret(operator.post(address, {"grace_seconds": "3600", "reason": "quarterly"}))
    assert opens(secret) == opens(acme_key.secret) == acme_key.id
    assert history() == ["Rotated, 3600 s of grace: quarterly"]


def test_a_bad_grace_rotates_nothing(operator, acme_key):
    for grace in ("", "-1", "2147483648", "soon"):
        operator.post(
            reverse("admin:accounts_apikey_rotate", args=[acme_key.id]), {"grace_seconds": grace, "reason": "leak"}
        )
        assert KeySecret.objects.count() == 1, grace


def test_keys_are_disabled_and_enabled_from_the_list(operator, acme_key):
    address = reverse("admin:accounts_apikey_changelist")
    operator.post(address, {"action": "disable", "_selected_action": [acme_key.id]})
    with pytest.raises(AuthenticationError):
        opens(acme_key.secret)
    operator.post(address, {"action": "enable", "_selected_action": [acme_key.id]})
    assert opens(acme_key.secret) == acme_key.id
    assert history() == ["Enabled.", "Disabled."]


def test_a_key_shows_no_old_secret_either(operator, acme_key):
    keys.rotate(acme_key.record, grace_seconds=0)
    page = operator.get(reverse("admin:accounts_apikey_change", args=[acme_key.id])).content.decode()
    for row in KeySecret.objects.all():
        assert row.digest not in page
        assert row.ciphertext not in page
