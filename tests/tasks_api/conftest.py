"""The Task API of one key and of another account's."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from common import ids
from common.http import rates
from front import django_application
from tasks.models import Task, Worker
from tests import rows
from tests.rows import IssuedKey
from tests.tasks_api.asking import Api

MakeTask = Callable[..., Task]


@pytest.fixture(autouse=True)
def rate_clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the rates are counted by: second 20 of a minute, with nothing counted, until a test moves it."""
    clock = SimpleNamespace(at=60_000_020)
    monkeypatch.setattr(rates, "time", SimpleNamespace(time=lambda: clock.at))
    rates._counts.clear()
    return clock


@pytest.fixture(autouse=True)
def our_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django's test client then reads requests as our WSGI application does."""
    monkeypatch.setattr("django.test.client.WSGIRequest", django_application.Request)


@pytest.fixture
def api_of(client_for: Callable[[IssuedKey], Client]) -> Callable[[IssuedKey], Api]:
    return lambda key: Api(client_for(key))


@pytest.fixture
def api(api_of, key) -> Api:
    return api_of(key)


@pytest.fixture
def other_api(api_of, other_key) -> Api:
    return api_of(other_key)


@pytest.fixture
def make_task(key: IssuedKey) -> MakeTask:
    return lambda status="queued", **fields: rows.make_task(key, status, **fields)


@pytest.fixture
def make_worker(db: None) -> Callable[..., Worker]:
    def make(**fields: Any) -> Worker:
        return Worker.objects.create(id=ids.new_task_id(), host="here", pid=1, lanes="tasks", **fields)

    return make
