"""Who is let in, and in which order the refusals come."""

from datetime import UTC, datetime

import pytest
from django.db.models import F

from accounts import keys
from accounts.models import Account, ApiKey
from catalog.models import CatalogVersion
from common import sql
from common.errors import ApiDisabled, AuthenticationError, ScopeRequired
from tasks import switches
from tasks.gate import admit
from tests.rows import make_key
from tests.tasks import steps

PAST, FUTURE = datetime(2020, 1, 1, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC)


def bearer(key) -> str:
    return f"Bearer {key.secret}"


def refusal(header: str | None) -> AuthenticationError:
    with pytest.raises(AuthenticationError) as caught:
        admit(header)
    return caught.value


def change(key, **fields) -> None:
    ApiKey.objects.filter(pk=key.id).update(**fields)


def test_a_task_key_is_let_in_with_its_account(key):
    caller = admit(bearer(key)).caller
    assert (caller.key_id, caller.account_id) == (key.id, key.account.pk)
    assert caller.secret_id == key.record.secrets.get().pk
    assert (caller.balance_micros, caller.held_micros, caller.is_subscription) == (10_000_000, 0, False)


def test_being_let_in_costs_one_statement(key, django_assert_num_queries):
    with django_assert_num_queries(1):
        admit(bearer(key), idempotency_key="order-1")


def test_the_scheme_is_read_leniently(key):
    for prefix in ("Bearer ", "bearer ", "BEARER   "):
        assert admit(prefix + key.secret).caller.key_id == key.id


OTHERS = [
    None, "", "Bearer", "Bearer ", "Basic eA==", "Bearer dr-task-unknown", "Bearer a b", "Bearer schlüssel",
    "Bearer \x00",
]  # fmt: skip


def test_other_headers_are_not_let_in(key):
    for header in OTHERS:
        assert refusal(header).headers == {"WWW-Authenticate": "Bearer"}


def test_a_secret_without_its_scheme_is_not_let_in(key):
    for header in (key.secret, f"Token {key.secret}", f"Bearer {key.secret} ", f"Bearer {key.secret[:-1]}"):
        assert refusal(header)


@pytest.mark.parametrize("field", ["disabled_at", "expires_at"])
def test_a_dead_key_is_refused_like_an_unknown_one(key, field):
    change(key, **{field: PAST})
    assert refusal(bearer(key)).body() == AuthenticationError().body()


def test_a_key_that_expires_later_is_let_in(key):
    change(key, expires_at=FUTURE)
    assert admit(bearer(key)).caller.key_id == key.id


def test_a_rotated_secret_works_through_its_grace_only(key):
    fresh = keys.rotate(key.record, grace_seconds=3600)
    assert admit(bearer(key)).caller.key_id == admit(f"Bearer {fresh}").caller.key_id == key.id
    sql.run(f"UPDATE accounts_keysecret SET retired_at = {sql.now()} WHERE retired_at IS NOT NULL")
    assert refusal(bearer(key))


@pytest.mark.parametrize("fields", [{"binding": "general"}, {"task_api": False}])
def test_a_key_without_the_scope_is_told_so(key, fields):
    change(key, **fields)
    with pytest.raises(ScopeRequired):
        admit(bearer(key))


def test_a_dead_key_without_the_scope_is_only_unknown(key):
    change(key, task_api=False, disabled_at=PAST)
    assert refusal(bearer(key))


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
