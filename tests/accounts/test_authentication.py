"""What one look at a key tells; whom it refuses over HTTP is in tests/tasks_api/test_authentication.py."""

import re

import pytest
from django.db.models import F

from accounts.authentication import Credentials, admit, admit_all, digest_of
from accounts.models import Account
from catalog.models import CatalogVersion
from common import sql
from common.errors import ApiDisabled, AuthenticationError
from tasks import switches
from tests.rows import make_key
from tests.tasks import steps


def bearer(key) -> str:
    return f"Bearer {key.secret}"


def test_a_task_key_is_let_in_with_its_account(key):
    caller = admit(bearer(key)).caller
    assert (caller.key_id, caller.account_id) == (key.id, key.account.pk)
    assert caller.secret_id == key.record.secrets.get().pk
    assert (caller.balance_micros, caller.held_micros, caller.is_subscription) == (10_000_000, 0, False)


def test_being_let_in_costs_one_statement(key, django_assert_num_queries):
    with django_assert_num_queries(1):
        admit(bearer(key), idempotency_key="order-1")


def test_a_disabled_api_is_told_before_anything_of_the_key(key):
    switches.disable_api()
    for header in (bearer(key), "Bearer dr-task-unknown", None):
        with pytest.raises(ApiDisabled) as caught:
            admit(header)
        assert caught.value.headers == {"Retry-After": "60"}


def test_a_pause_is_reported_and_not_judged(key):
    switches.pause(message="Moving house.", retry_after_seconds=90)
    service = admit(bearer(key)).service
    assert (service.is_paused, service.message, service.retry_after_seconds) == (True, "Moving house.", 90)


def test_a_change_holds_from_the_next_request_on(key):
    before = admit(bearer(key)).service.catalog_version
    Account.objects.update(balance_micros=F("balance_micros") - 1, billing="subscription")
    CatalogVersion.raise_it()
    admission = admit(bearer(key))
    assert (admission.caller.balance_micros, admission.caller.is_subscription) == (9_999_999, True)
    assert admission.service.catalog_version > before


def test_an_idempotency_key_in_use_is_found(key, image_model):
    task_id = steps.submitted(key, idempotency_key="order-1", digest="d" * 64)
    replay = admit(bearer(key), idempotency_key="order-1").replay
    assert replay is not None
    assert (replay.task_id, replay.body_digest) == (task_id, "d" * 64)


def test_another_idempotency_key_is_free(key, image_model):
    steps.submitted(key, idempotency_key="order-1")
    steps.submitted(key)
    for sent in (None, "order-2", "ORDER-1", "order-1 ", "order%"):
        assert admit(bearer(key), idempotency_key=sent).replay is None, sent


def test_another_keys_idempotency_keys_do_not_count(account, key, image_model):
    steps.submitted(key, idempotency_key="order-1")
    sibling = make_key(account, "sibling")
    assert admit(bearer(sibling), idempotency_key="order-1").replay is None


def test_many_are_judged_in_one_statement_each_by_its_own(key, other_key, image_model, django_assert_num_queries):
    task_id = steps.submitted(key, idempotency_key="k")
    knocks = [(bearer(key), "k"), ("Bearer dr-task-unknown", "k"), (bearer(other_key), "k"), (bearer(key), None)]
    with django_assert_num_queries(1):
        mine, unknown, other, again = admit_all(
            [Credentials(digest=digest_of(sent), idempotency_key=idempotency_key) for sent, idempotency_key in knocks]
        )
    assert isinstance(unknown, AuthenticationError)
    assert [found.caller.key_id for found in (mine, other, again)] == [key.id, other_key.id, key.id]
    assert [found.replay and found.replay.task_id for found in (mine, other, again)] == [task_id, None, None]


def test_postgresql_expects_one_row_for_each_knock(key):
    with steps.captured() as statements:
        admit_all([Credentials(digest=digest_of(bearer(key)))] * 3)
    plan = steps.explained(statements[0])
    assert not sql.is_postgresql() or re.findall(r"rows=(\d+)", plan)[0] == "3", plan
