"""Notes every network call and every use of asset storage while one of our own transactions is open on its thread."""

import os
import sys
import traceback
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

NETWORK = frozenset({"socket.connect", "socket.getaddrinfo", "http.client.send"})
FILES = frozenset({"open", "os.rename", "os.remove", "os.mkdir"})

breaches: list[str] = []


def in_own_transaction() -> bool:
    """Whether this thread has a transaction open that is not the wrapper of a test."""
    connection = getattr(connections._connections, DEFAULT_DB_ALIAS, None)  # asking `connections` would make one
    return connection is not None and any(not block._from_testcase for block in connection.atomic_blocks)


def is_io(event: str, arguments: tuple[Any, ...]) -> bool:
    if event in FILES:
        path = arguments[0]
        storage = os.environ["ASSET_STORAGE"].removeprefix("file://")
        return isinstance(path, str | os.PathLike) and str(path).startswith(storage)
    if event == "socket.connect":
        return isinstance(arguments[1], tuple)  # a Unix socket's address is text: the database
    return event in NETWORK


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if (event in NETWORK or event in FILES) and is_io(event, arguments) and in_own_transaction():
        stack = "".join(traceback.format_stack(limit=12)[:-1])
        breaches.append(f"{event} inside a transaction:\n{stack}")


sys.addaudithook(watch)
