"""The Task API of one key and of another account's."""

from collections.abc import Callable

import pytest
from django.test import Client

from config import wsgi
from tasks_api import rates
from tests.api.asking import Api
from tests.rows import IssuedKey


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """What a process counts must not outlive a test."""
    rates._counts.clear()


@pytest.fixture(autouse=True)
def our_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django's test client then reads requests as our WSGI application does."""
    monkeypatch.setattr("django.test.client.WSGIRequest", wsgi.Request)


@pytest.fixture
def api_of(client_for: Callable[[IssuedKey], Client]) -> Callable[[IssuedKey], Api]:
    return lambda key: Api(client_for(key))


@pytest.fixture
def api(api_of, key) -> Api:
    return api_of(key)


@pytest.fixture
def other_api(api_of, other_key) -> Api:
    return api_of(other_key)
