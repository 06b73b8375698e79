"""Connections to a SQLite file: each waits for its turn before it writes, and is kept for the next who asks."""

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, TypeVar

from django.db.backends.sqlite3.base import SQLiteCursorWrapper

from common.database import time_limits
from common.sqlite import turns

Result = TypeVar("Result")
MOST_KEPT = 16
LOOKS_SECONDS = 0.005
"""So long SQLite looks for a lock by itself, after 1, 2 and 2 ms, before it is asked again: later it seldom looks."""
BETWEEN_LOOKS_SECONDS = 0.0003
PRIMARY_CODE = 0xFF
INSTRUCTIONS = 100_000
"""Between two looks at the clock within a statement of a web process: one or two milliseconds."""
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


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether somebody else had the lock that was wanted."""
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE == sqlite3.SQLITE_BUSY


class FileConnection(sqlite3.Connection):
    """`patience` is how many seconds a statement may wait for others. Within a transaction it waits for nobody: those
    that write are IMMEDIATE. In a web process a statement that takes longer than its limit is interrupted."""

    def __init__(self, database: str, timeout: float = 5.0, **options: Any) -> None:
        super().__init__(database, timeout=LOOKS_SECONDS, **options)
        self.patience = timeout
        self.file = identity(database)
        self._turn = turns.Turn(turns.line_at(database)) if self.file else None
        self._began = 0.0
        if limits := time_limits.of_process:
            self.patience = min(timeout, limits.statement)
            self.set_progress_handler(partial(self._is_late, limits.statement), INSTRUCTIONS)

    def begin(self) -> None:
        """A statement begins: until the next one this is the time that counts, also while its rows are fetched."""
        self._began = time.monotonic()

    def _is_late(self, seconds: float) -> bool:
        return time.monotonic() - self._began > seconds

    def patiently(self, statement: str, run: Callable[[], Result]) -> Result:
        """Run a statement outside of a transaction, in this connection's turn if it writes. Raises OperationalError
        after `patience`."""
        ends_at = time.monotonic() + self.patience
        try:
            if self._turn and writes(statement):
                self._turn.take(ends_at)
            while True:
                try:
                    return run()
                except sqlite3.OperationalError as error:
                    if not is_busy(error) or time.monotonic() >= ends_at:
                        raise
                time.sleep(BETWEEN_LOOKS_SECONDS)
        finally:
            self.after()

    def after(self) -> None:
        """Let the next one write, unless a transaction is open."""
        if self._turn and not self.in_transaction:
            self._turn.leave()

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
        if self._turn:
            self._turn.leave()
            self._turn = None


class FileCursor(SQLiteCursorWrapper):
    """Where every statement of Django's passes."""

    connection: FileConnection

    def execute(self, query: str, params: Any = None) -> Any:
        run = partial(super().execute, query, params)
        self.connection.begin()
        if not self.connection.in_transaction:
            return self.connection.patiently(query, run)
        try:
            return run()
        finally:
            self.connection.after()

    def executemany(self, query: str, param_list: Iterable[Any]) -> Any:
        """In a transaction of its own where there is none: what is repeated has done nothing before."""
        if self.connection.in_transaction:
            return super().executemany(query, param_list)
        self.execute("BEGIN IMMEDIATE")
        try:
            done = super().executemany(query, param_list)
            self.connection.commit()
        except BaseException:
            self.connection.rollback()
            raise
        return done


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
