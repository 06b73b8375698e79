"""Money, keys and credentials are rights of their own, and what is done with them is in the history."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from accounts import keys
from accounts.models import ApiKey
from catalog.models import Channel
from tests.desk.sensitive import DEEDS, GUARDED, TOLD, browser, channel_fields, groups_channel, make_rows

pytestmark = pytest.mark.django_db

KEYS = ("issue", "rotate", "enable on its page")
REASONED = ("credit", "refund", *KEYS, "credential", "switch", "credential's end", "group's channel")


@pytest.fixture(autouse=True)
def rows(acme_key, image_channel):
    make_rows(image_channel)
    keys.disable(acme_key.record)


@pytest.mark.parametrize("name", GUARDED)
def test_changing_rows_is_no_right_to_money_keys_or_credentials(name):
    others = {deed.right for deed in GUARDED.values()} - {GUARDED[name].right}
    answer = GUARDED[name].attempt(browser(*others))
    assert not GUARDED[name].is_done()
    assert answer.status_code in (200, 302, 403)


@pytest.mark.parametrize("name", GUARDED)
def test_the_right_itself_is_enough(name):
    GUARDED[name].attempt(browser(GUARDED[name].right))
    assert GUARDED[name].is_done()


@pytest.mark.parametrize("name", TOLD)
def test_the_history_says_who_did_it_when_and_why(operator, name):
    before = timezone.now()
    TOLD[name].attempt(operator)
    entry = LogEntry.objects.get(change_message=TOLD[name].story)
    assert entry.user.username == "operator"
    assert before <= entry.action_time <= timezone.now()
    assert TOLD[name].story in operator.get(reverse("admin:admin_logentry_changelist")).content.decode()


@pytest.mark.parametrize("name", REASONED)
def test_without_a_reason_nothing_is_done(operator, name):
    fields = {field: value for field, value in DEEDS[name].fields().items() if not field.endswith("reason")}
    assert operator.post(DEEDS[name].page(), fields).status_code == 200
    assert not DEEDS[name].is_done()


@pytest.mark.parametrize("name", ["credential", "credential's end", "group's channel"])
def test_a_reason_that_does_not_fit_is_no_reason(operator, name):
    fields = DEEDS[name].fields() | {"credentials-0-change_reason": "x" * 501}
    assert operator.post(DEEDS[name].page(), fields).status_code == 200
    assert not DEEDS[name].is_done()


def test_without_the_right_a_channel_stays_at_its_address():
    client = browser()
    elsewhere = {"base_url": "https://thief.example/v1"}
    client.post(DEEDS["credential"].page(), channel_fields() | elsewhere)
    client.post(DEEDS["group's channel"].page(), channel_fields(groups_channel()) | elsewhere)
    assert not Channel.objects.filter(base_url__contains="thief").exists()


def test_one_request_does_not_freeze_the_forms_of_others(operator):
    browser().get(DEEDS["group's channel"].page())
    DEEDS["group's channel"].attempt(operator)
    assert DEEDS["group's channel"].is_done()


def test_who_has_no_right_sees_no_button():
    account, key = DEEDS["credit"].page(), DEEDS["rotate"].page()
    for client, sees in ((browser(), False), (browser("book_money", "rotate_keys"), True)):
        for form in (account, key):
            page = client.get(form.replace("credit/", "change/").replace("rotate/", "change/"))
            assert (form in page.content.decode()) == sees, form


def test_disabling_a_key_needs_no_right_of_its_own(acme_key):
    keys.enable(acme_key.record)
    fields = {"action": "disable", "_selected_action": str(acme_key.id)}
    browser().post(reverse("admin:accounts_apikey_changelist"), fields)
    assert ApiKey.objects.get().disabled_at is not None
