"""A front of its own: a real gunicorn with `tests.front.urls`, shared by the tests that leave nothing behind."""

import socket
from collections.abc import Callable, Iterator

import pytest

from tests.databases import Databases
from tests.processes import TestStack
from tools.children import PATIENCE

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.front.settings"}


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
