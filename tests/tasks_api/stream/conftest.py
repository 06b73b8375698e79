"""A front on the tests' own database, so that a test makes transitions itself and reads them from the stream."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.databases import database_url
from tests.front.conftest import SETTINGS
from tests.processes import TestStack
from tests.rows import IssuedKey
from tests.tasks import steps
from tests.tasks.events.conftest import concurrent
from tests.tasks_api.stream import sse
from tests.tasks_api.stream.sse import Client

__all__ = ["concurrent"]


def own_stack(folder: Path) -> TestStack:
    """Processes on the database that the tests themselves use; it has to be set up."""
    return TestStack(database_url=database_url(), folder=folder)


@pytest.fixture(scope="module")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestStack]:
    """A front for the tests that leave it as it was."""
    stack = own_stack(tmp_path_factory.mktemp("stream"))
    stack.start_web(**SETTINGS)
    yield stack
    stack.stop()


@pytest.fixture
def own_web(transactional_db: None, tmp_path: Path) -> Iterator[TestStack]:
    """A front that the test starts, and may stop and restart."""
    stack = own_stack(tmp_path)
    yield stack
    stack.stop()


@pytest.fixture
def port(web: TestStack) -> int:
    return int(web.environment["PORT"])


@pytest.fixture
def listen(port: int) -> Iterator[Callable[..., Client]]:
    """Opens a stream of the key; see `sse.request` for the options."""
    clients: list[Client] = []

    def listen(key: IssuedKey, *, receive_buffer: int = 0, **options: object) -> Client:
        sent = sse.request(key.secret, **options)  # type: ignore[arg-type]
        clients.append(Client(port, sent, receive_buffer=receive_buffer))
        return clients[-1]

    yield listen
    for client in clients:
        client.socket.close()


@pytest.fixture
def worker(transactional_db: None) -> str:
    return steps.worker()
