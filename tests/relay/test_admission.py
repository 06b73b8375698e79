"""What one look at a key tells the relay; what each path makes of it is in tests/front/test_companion_keys.py."""

import datetime

import pytest
from django.utils import timezone

from accounts import authentication, keys
from accounts.models import Account
from common.errors import AuthenticationError, PermissionRefused
from relay.admission import admit_all
from tests.relay.general import make_general_key, make_group


def bearer(key) -> str:
    return f"Bearer {key.secret}"


@pytest.fixture
def group(db):
    return make_group("text", "anthropic")


@pytest.fixture
def general(account, group):
    return make_general_key(account, group)


def test_a_general_key_is_let_in_with_its_account_and_its_group(general, group):
    (admitted,) = admit_all([bearer(general)])
    caller = admitted.caller
    assert (caller.key_id, caller.account_id, caller.is_subscription) == (general.id, general.account.pk, False)
    assert (admitted.group.id, admitted.group.platform) == (group.pk, "anthropic")
    assert authentication.holder_of(authentication.digest_of(bearer(general))).account_id == general.account.pk


def test_a_key_without_a_group_is_let_in_without_an_offer(account):
    (admitted,) = admit_all([bearer(make_general_key(account, None))])
    assert admitted.group is None


def test_many_are_let_in_by_one_statement_each_by_its_own(general, key, other_key, django_assert_num_queries):
    other = make_general_key(other_key.account, None)
    admit_all([bearer(general)])  # the picture of the catalog is there
    with django_assert_num_queries(1):
        mine, missing, task, theirs, unknown = admit_all(
            [bearer(general), "", bearer(key), bearer(other), "Bearer dr-gen-unknown"]
        )
    assert isinstance(missing, AuthenticationError)
    assert isinstance(unknown, AuthenticationError)
    assert (missing.headers, missing.message) == (unknown.headers, unknown.message)
    assert isinstance(task, PermissionRefused)
    assert [admitted.caller.key_id for admitted in (mine, theirs)] == [general.id, other.id]


def test_a_change_holds_from_the_next_request_on(general):
    (before,) = admit_all([bearer(general)])
    Account.objects.update(billing="subscription")
    general.record.group = make_group("pictures", "gemini")
    general.record.save()
    (after,) = admit_all([bearer(general)])
    assert (before.group.platform, after.group.platform) == ("anthropic", "gemini")
    assert (before.caller.is_subscription, after.caller.is_subscription) == (False, True)
    assert after.caller.catalog_version > before.caller.catalog_version
    keys.disable(general.record)
    assert isinstance(admit_all([bearer(general)])[0], AuthenticationError)


def test_what_is_expired_retired_or_disabled_opens_nothing(account, key, group):
    expired = make_general_key(account, group, "x", expires_at=timezone.now() - datetime.timedelta(seconds=1))
    rotated = make_general_key(account, group, "r")
    keys.rotate(rotated.record, grace_seconds=0)
    keys.disable(key.record)  # a Task key, and no longer one: 401, and not 403
    refused = admit_all([bearer(expired), bearer(rotated), bearer(key)])
    assert [type(error) for error in refused] == [AuthenticationError] * 3
