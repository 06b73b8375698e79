"""Rotations at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts import keys
from accounts.models import KeySecret
from common.errors import AuthenticationError
from tasks import gate

THREADS = 8


def opens(secret):
    try:
        return gate.admit(f"Bearer {secret}").caller.key_id
    except AuthenticationError:
        return None


@pytest.mark.django_db(transaction=True)
def test_rotations_at_the_same_time_leave_one_open_secret(key):
    def rotate(_: int) -> str:
        try:
            return keys.rotate(key.record, grace_seconds=0)
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as threads:
        made = [key.secret, *threads.map(rotate, range(THREADS))]
    assert KeySecret.objects.count() == len(made)
    assert [opens(secret) for secret in made].count(key.id) == 1
