"""Secrets of keys: issued, found by digest, rotated, closed, opened again for signing."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import override_settings

from accounts import authentication, keys
from accounts.models import Account, ApiKey, KeySecret
from common.encryption import Undecryptable
from common.errors import AuthenticationError, ScopeRequired
from tests.tasks.steps import clock

pytestmark = pytest.mark.django_db
OTHER_SECRET_KEY = "another-secret-key-0123456789-abcdefghij-ABCDEFGHIJ-xyz"
OTHER_ENCRYPTION_KEY = "YW5vdGhlci1rZXktb2YtZXhhY3RseS0zMi1ieXRlcyE="


@pytest.fixture
def key():
    return ApiKey.objects.create(account=Account.objects.create(name="acme"), name="key-1")


def opens(secret):
    try:
        return authentication.admit(f"Bearer {secret}").caller.key_id
    except AuthenticationError:
        return None


def test_a_secret_opens_its_key(key):
    assert opens(keys.issue(key)) == key.pk


def test_a_digest_is_sha256_in_hex():
    assert authentication.digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_task_secret_names_its_kind_and_has_256_bits(key):
    assert re.fullmatch(r"dr-task-[A-Za-z0-9]{43}", keys.issue(key))


def test_a_general_secret_names_its_kind_and_is_out_of_scope(key):
    general = ApiKey.objects.create(account=key.account, name="chat", binding="general", task_api=False)
    secret = keys.issue(general)
    assert secret.startswith("dr-gen-")
    with pytest.raises(ScopeRequired):
        opens(secret)


def test_the_table_holds_no_plain_secret(key):
    secret = keys.issue(key)
    row = KeySecret.objects.values().get()
    assert secret not in str(row)
    assert row["last4"] == secret[-4:]


def test_a_secret_outlives_a_new_secret_key_of_the_site(key):
    secret = keys.issue(key)
    with override_settings(SECRET_KEY=OTHER_SECRET_KEY):
        assert opens(secret) == key.pk


def test_a_disabled_key_opens_nothing_until_it_is_enabled(key):
    secret = keys.issue(key)
    keys.disable(key)
    assert opens(secret) is None
    keys.enable(key)
    assert opens(secret) == key.pk


def test_disabling_twice_keeps_the_first_moment(key):
    keys.disable(key)
    key.refresh_from_db()
    first = key.disabled_at
    keys.disable(key)
    key.refresh_from_db()
    assert key.disabled_at == first is not None


def test_a_key_opens_until_it_expires(key):
    secret = keys.issue(key)
    for year, found in ((2020, None), (2090, key.pk)):
        ApiKey.objects.update(expires_at=datetime(year, 1, 1, tzinfo=UTC))
        assert opens(secret) == found


def test_rotation_without_grace_closes_the_old_secret_at_once(key):
    old = keys.issue(key)
    new = keys.rotate(key, grace_seconds=0)
    assert opens(old) is None
    assert opens(new) == key.pk


def test_rotation_with_grace_keeps_the_old_secret_until_then(key):
    old = keys.issue(key)
    before = clock()
    new = keys.rotate(key, grace_seconds=3600)
    hour = timedelta(hours=1)
    assert before + hour <= KeySecret.objects.get(digest=authentication.digest(old)).retired_at <= clock() + hour
    assert opens(old) == opens(new) == key.pk


def test_rotation_never_prolongs_an_older_secret(key):
    first = keys.issue(key)
    second = keys.rotate(key, grace_seconds=0)
    keys.rotate(key, grace_seconds=3600)
    assert opens(first) is None
    assert opens(second) == key.pk


def test_rotation_with_a_shorter_grace_shortens_a_longer_one(key):
    first = keys.issue(key)
    keys.rotate(key, grace_seconds=3600)
    keys.rotate(key, grace_seconds=0)
    assert opens(first) is None


def test_the_longest_grace_still_ends(key):
    old = keys.issue(key)
    keys.rotate(key, grace_seconds=2**31 - 1)
    assert KeySecret.objects.get(digest=authentication.digest(old)).retired_at.year > 2080


def test_rotation_leaves_other_keys_alone(key):
    other = ApiKey.objects.create(account=key.account, name="key-2")
    secret = keys.issue(other)
    keys.rotate(key, grace_seconds=0)
    assert opens(secret) == other.pk


def test_a_retired_secret_of_a_disabled_key_is_still_revealed_for_signing(key):
    secret = keys.issue(key)
    secret_id = KeySecret.objects.get().pk
    keys.rotate(key, grace_seconds=0)
    keys.disable(key)
    assert keys.reveal(secret_id) == secret


def test_an_older_encryption_key_still_reveals(key, settings):
    secret = keys.issue(key)
    settings.ENCRYPTION_KEYS = [OTHER_ENCRYPTION_KEY, *settings.ENCRYPTION_KEYS]
    assert keys.reveal(KeySecret.objects.get().pk) == secret


def test_a_lost_encryption_key_says_so(key, settings):
    keys.issue(key)
    settings.ENCRYPTION_KEYS = [OTHER_ENCRYPTION_KEY]
    with pytest.raises(Undecryptable):
        keys.reveal(KeySecret.objects.get().pk)
