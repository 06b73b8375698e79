"""Rotations at the same time."""

from functools import partial

import pytest

from accounts import authentication, keys
from accounts.models import KeySecret
from common.errors import AuthenticationError
from tests.tasks.steps import at_once

THREADS = 8


def opens(secret):
    try:
        return authentication.admit(f"Bearer {secret}").caller.key_id
    except AuthenticationError:
        return None


@pytest.mark.django_db(transaction=True)
def test_rotations_at_the_same_time_leave_one_open_secret(key):
    made = [key.secret, *at_once([partial(keys.rotate, key.record, grace_seconds=0)] * THREADS)]
    assert KeySecret.objects.count() == len(made)
    assert [opens(secret) for secret in made].count(key.id) == 1
