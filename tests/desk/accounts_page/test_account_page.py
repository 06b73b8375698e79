"""The page of an account: its money, its limits, its keys and its statements on one view."""

import pytest
from django.urls import reverse

from accounts import keys
from common import sql
from desk.accounts_page import account_facts, key_facts
from tests.billing import relayed_steps
from tests.rows import make_account, make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db


def page(client, account):
    return client.get(reverse("admin:accounts_account_change", args=[account.pk])).content.decode()


def test_what_it_can_spend_comes_first_and_each_figure_leads_to_its_rows(operator, key, image_model):
    worker = steps.worker()
    steps.end(steps.start(key, worker))
    steps.submitted(key)
    text = page(operator, key.account)
    assert "can spend <strong>$9.92</strong>; $0.04 more is held" in text
    assert '<span class="number">$9.96</span>' in text
    assert (
        f"{reverse('admin:billing_hold_changelist')}?account__id__exact={key.account.pk}&amp;state__exact=open" in text
    )
    assert "1 of 200" in text
    assert (
        operator.get(
            f"{reverse('admin:billing_hold_changelist')}?account__id__exact={key.account.pk}&state__exact=open"
        )
        .context["cl"]
        .result_count
        == 1
    )


def test_an_account_without_money_says_so(operator):
    broke = make_account("broke", usd="0.000001")
    relayed_steps.opened(make_key(broke), estimated=1)
    assert "cannot submit any more" in page(operator, broke)


def test_keys_are_listed_with_their_state_and_last_use(key, image_model):
    unused = make_key(key.account, "unused")
    keys.disable(unused.record)
    task_id = steps.submitted(key)
    steps.age(task_id, "created_at", -3600)
    call = relayed_steps.ended(key)
    found = {each.name: each for each in account_facts.read(key.account).keys}
    assert (found["unused"].state, found["unused"].last_used_at, found["unused"].last4) == (
        "disabled",
        None,
        unused.secret[-4:],
    )
    assert (found["key"].state, found["key"].queued, found["key"].running) == ("enabled", 1, 0)
    assert abs((found["key"].last_used_at - call.created_at).total_seconds()) < 1


def test_a_key_that_has_expired_says_so(key):
    steps_back = "2020-01-01T00:00:00+00:00"
    type(key.record).objects.filter(pk=key.id).update(expires_at=steps_back)
    assert account_facts.read(key.account).keys[0].state == "expired"


def test_no_script_and_no_json_is_needed(operator, key):
    for address in (
        reverse("admin:accounts_account_change", args=[key.account.pk]),
        reverse("admin:accounts_apikey_change", args=[key.id]),
        reverse("admin:accounts_apikey_add"),
        reverse("admin:accounts_account_add"),
    ):
        text = operator.get(address).content.decode()
        assert "jquery" not in text, address
        assert "<textarea" not in text, address


def test_the_page_asks_as_much_for_many_keys_as_for_one(operator, key, django_assert_max_num_queries):
    for number in range(20):
        make_key(key.account, f"key-{number}")
    with django_assert_max_num_queries(18):
        page(operator, key.account)


def test_what_keys_have_in_hand_is_counted_by_the_index_of_live_tasks(key):
    with steps.captured() as statements:
        key_facts.read_one(key.id)
    if not sql.is_postgresql():  # there an empty table is read whole
        assert steps.explained(statements[0]).count("task_limits") == 2
