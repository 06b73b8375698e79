"""A front of its own: a real gunicorn with `tests.front.urls`, shared by the tests that leave nothing behind."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from common import ids
from tasks.models import Task, Worker
from tests import rows
from tests.databases import Databases
from tests.processes import TestStack
from tests.rows import IssuedKey
from tools.children import PATIENCE

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.front.settings"}
MakeTask = Callable[..., Task]


@pytest.fixture(scope="module")
def front(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestStack]:
    with databases.fresh() as url:
        stack = TestStack(database_url=url, folder=tmp_path_factory.mktemp("front"))
        stack.start_web(**SETTINGS)
        yield stack
        stack.stop()


@pytest.fixture
def dial(front: TestStack) -> Iterator[Callable[..., socket.socket]]:
    """Opens a raw connection to the front and sends the bytes."""
    dialled: list[socket.socket] = []

    def dial(sent: bytes = b"", *, receive_buffer: int = 0) -> socket.socket:
        connection = socket.socket()
        dialled.append(connection)
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", int(front.environment["PORT"])))
        connection.sendall(sent)
        return connection

    yield dial
    for connection in dialled:
        connection.close()


@pytest.fixture
def make_task(key: IssuedKey) -> MakeTask:
    return lambda status="queued", **fields: rows.make_task(key, status, **fields)


@pytest.fixture
def make_worker(db: None) -> Callable[..., Worker]:
    def make(**fields: Any) -> Worker:
        return Worker.objects.create(id=ids.new_task_id(), host="here", pid=1, lanes="tasks", **fields)

    return make
