"""Bounds the database work of one web request: all its statements together have ten seconds, waits for locks included.

The server's own limit is one for a statement, and to set it before each would cost a round trip. So a watchdog cancels
what is still at work when the time is up. Commands and workers are not bound.
"""

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections

from common.sqlite.connections import FileConnection

SECONDS = 10.0
LOOK_SECONDS = 0.25
CANCEL_SECONDS = 2.0


class OutOfTime(OperationalError):
    """The time was up before the work was begun: the server has not heard of it."""


class Statement:
    """One that is at work on a connection, until it is done or its time is up."""

    def __init__(self, raw: Any, ends_at: float) -> None:
        self.ends_at = ends_at
        self.is_due = False
        self._raw = raw
        self._lock = threading.Lock()
        self._done = threading.Event()

    def finish(self) -> None:
        """From here on nothing cancels the connection's work on account of this statement."""
        with self._lock:
            self._done.set()

    def cancel(self) -> None:
        """Where the server does not hear of it, because the network is away, the connection is cut."""
        with self._lock:
            if self._done.is_set():
                return
            if isinstance(self._raw, sqlite3.Connection):
                self._raw.interrupt()
                return
            with suppress(psycopg.Error):
                self._raw.cancel_safe(timeout=CANCEL_SECONDS)
        if not self._done.wait(CANCEL_SECONDS):
            self._cut()

    def _cut(self) -> None:
        with self._lock:
            if not self._done.is_set():
                with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self._raw.fileno())) as twin:
                    twin.shutdown(socket.SHUT_RDWR)


class Watchdog:
    """One thread for all statements of the process. To watch one costs neither a lock nor a wake-up."""

    def __init__(self) -> None:
        self._watched: dict[int, Statement] = {}
        self._lock = threading.Lock()
        self._process = 0

    def watch(self, statement: Statement) -> None:
        if self._process != os.getpid():
            self._start()
        self._watched[threading.get_ident()] = statement

    def leave(self, statement: Statement) -> None:
        statement.finish()
        self._watched.pop(threading.get_ident(), None)

    def _start(self) -> None:
        with self._lock:
            if self._process != os.getpid():  # threads do not survive a fork
                threading.Thread(target=self._look, name="query deadline", daemon=True).start()
                self._process = os.getpid()

    def _look(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            for statement in list(self._watched.values()):
                if statement.ends_at <= time.monotonic() and not statement.is_due:
                    statement.is_due = True
                    # On a thread of its own, because a server that is away would hold up the next one.
                    threading.Thread(target=statement.cancel, daemon=True).start()


watchdog = Watchdog()


class Budget:
    """What a request has left, for each of its statements and commits."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._current: Statement | None = None

    def __call__(self, execute: Callable[..., Any], statement: Any, parameters: Any, many: bool, context: Any) -> Any:
        """Django's execute wrapper."""
        return self.bound(context["connection"].connection, execute, statement, parameters, many, context)

    def bound(self, raw: Any, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do the work on the raw connection. Raises OperationalError where that takes longer than is left."""
        self.finish()
        if self._left <= 0:
            raise OutOfTime("the request has used up its time with the database")
        began = time.monotonic()
        if isinstance(raw, FileConnection):  # it cannot be interrupted while it waits for others
            raw.patience = self._left
        self._current = Statement(raw, began + self._left)
        watchdog.watch(self._current)
        try:
            return work(*arguments)
        finally:
            self._left -= time.monotonic() - began
            if not isinstance(raw, sqlite3.Connection):  # SQLite goes on working while its rows are fetched
                self.finish()

    def grant(self, seconds: float) -> None:
        """What comes next has so many seconds at least, whatever was before it."""
        self._left = max(self._left, seconds)

    def finish(self) -> None:
        """The current statement is done, its rows included."""
        if self._current:
            watchdog.leave(self._current)
            self._current = None


class HeldBudgets(threading.local):
    """Those that hold on this thread, the outer ones first."""

    def __init__(self) -> None:
        self.held: list[Budget] = []


_budgets = HeldBudgets()


@contextmanager
def _commits_within(budget: Budget) -> Iterator[None]:
    """A commit is no statement to Django, but it may wait: PostgreSQL locks then the rows that new ones refer to. And
    what is handed back may be at work for somebody else at once."""
    wrapper: Any = connections[DEFAULT_DB_ALIAS]
    commit, close = wrapper._commit, wrapper._close

    def finish_and_close() -> None:
        budget.finish()
        close()

    wrapper._commit, wrapper._close = lambda: budget.bound(wrapper.connection, commit), finish_and_close
    try:
        yield
    finally:
        wrapper._commit, wrapper._close = commit, close


@contextmanager
def limited(seconds: float | None = None) -> Iterator[None]:
    """The statements and commits of this block on this thread; each beyond the time raises OperationalError."""
    budget = Budget(SECONDS if seconds is None else seconds)
    _budgets.held.append(budget)
    try:
        with connection.execute_wrapper(budget), _commits_within(budget):
            yield
    finally:
        _budgets.held.remove(budget)
        budget.finish()
        if isinstance(connection.connection, FileConnection):
            connection.connection.patience = connection.connection.usual_patience


def grant(seconds: float) -> None:
    """What this thread has to ask of the database next has so many seconds at least: for a question without which
    nobody knows what became of the time that is used up."""
    for budget in _budgets.held:
        budget.grant(seconds)
