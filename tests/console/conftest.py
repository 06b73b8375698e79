"""A browser of one key, and of others, in the console."""

from collections.abc import Callable

import pytest
from django.test import Client

from tests.rows import IssuedKey


@pytest.fixture
def sign_in(db) -> Callable[[IssuedKey], Client]:
    """A new browser that is signed in with the key."""

    def sign_in(key: IssuedKey) -> Client:
        browser = Client()
        answer = browser.post("/console/sign-in/", {"key": key.secret})
        assert answer.status_code == 302, answer.content
        return browser

    return sign_in


@pytest.fixture
def visitor(sign_in, key) -> Client:
    """The browser of `key`."""
    return sign_in(key)
