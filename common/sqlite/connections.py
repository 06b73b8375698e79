"""Connections to a SQLite file: each waits for its turn before it writes, and is kept for the next who asks."""

import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3.base import SQLiteCursorWrapper

from common.sqlite import turns

MOST_KEPT = 16
ROUGHLY_SECONDS = 0.05
WRITES = re.compile(
    r"\s*(INSERT|UPDATE|DELETE|REPLACE|BEGIN\s+(IMMEDIATE|EXCLUSIVE)|WITH\b.*\b(INSERT\s+INTO|UPDATE|DELETE\s+FROM))\b",
    re.IGNORECASE | re.DOTALL,
)


@lru_cache(maxsize=1000)
def writes(statement: str) -> bool:
    """Whether it takes the file's one lock for writers."""
    return bool(WRITES.match(statement))


def identity(path: str) -> tuple[int, int] | None:
    """Which file the name means; None where it means none, as that of a database in memory."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class FileConnection(sqlite3.Connection):
    """`patience` is how many seconds its next statement may wait for others. Within a transaction it waits for nobody:
    those that write are IMMEDIATE."""

    def __init__(self, database: str, timeout: float = 5.0, **options: Any) -> None:
        super().__init__(database, timeout=timeout, **options)
        self.usual_patience = self.patience = self._busy_seconds = timeout
        self.file = identity(database)
        self._stand = turns.stand_at(database) if self.file else None

    def before(self, statement: str) -> None:
        """Wait for this connection's turn if the statement writes. Raises OperationalError after `patience`."""
        left = self.patience
        if self._stand and writes(statement):
            left = self._stand.take(left)
        if not 0 <= self._busy_seconds - left <= ROUGHLY_SECONDS:
            self.execute(f"PRAGMA busy_timeout = {int(left * 1000)}")
            self._busy_seconds = left

    def after(self) -> None:
        """Let the next one write, unless a transaction is open."""
        if self._stand and not self.in_transaction:
            self._stand.leave()

    def commit(self) -> None:
        super().commit()
        self.after()

    def rollback(self) -> None:
        try:
            super().rollback()
        finally:
            self.after()

    def close(self) -> None:
        super().close()
        self._stand = None


class FileCursor(SQLiteCursorWrapper):
    """Where every statement of Django's passes."""

    connection: FileConnection

    def execute(self, query: str, params: Any = None) -> Any:
        with self._turn(query):
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Iterable[Any]) -> Any:
        with self._turn(query):
            return super().executemany(query, param_list)

    @contextmanager
    def _turn(self, query: str) -> Iterator[None]:
        if self.connection.in_transaction:
            yield
            return
        try:
            self.connection.before(query)
            yield
        finally:
            self.connection.after()


class IdleConnections:
    """Open connections that nobody uses, by their file's name."""

    def __init__(self) -> None:
        self._idle: dict[str, list[FileConnection]] = {}
        self._lock = threading.Lock()

    def take(self, path: str) -> FileConnection | None:
        """The one that was used last; never one to a file that was replaced since."""
        with self._lock:
            idle = self._idle.get(path)
            connection = idle.pop() if idle else None
        if connection and connection.file != identity(path):
            connection.close()
            return self.take(path)
        return connection

    def give(self, path: str, connection: FileConnection) -> None:
        connection.patience = connection.usual_patience
        with self._lock:
            idle = self._idle.setdefault(path, [])
            if len(idle) < MOST_KEPT:
                idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle = [connection for connections in self._idle.values() for connection in connections]
            self._idle.clear()
        for connection in idle:
            connection.close()

    def leave_behind(self) -> None:
        """In a forked child: they are the parent's, which must not lose its locks by their being closed here."""
        self.__dict__.update(IdleConnections().__dict__, _inherited=self._idle)


kept = IdleConnections()
os.register_at_fork(after_in_child=kept.leave_behind)
