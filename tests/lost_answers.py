"""Commits whose answer is lost, on PostgreSQL: what stands in the place of a commit, and how it gets there."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import psycopg
import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections

from tests.databases import database_url
from tests.time_limits import limited

Commit = Callable[[], None]


def at_the_next_commit(monkeypatch: pytest.MonkeyPatch, step: Callable[[Commit], None]) -> None:
    """Put this in the place of this thread's next commit, which it may call."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    usual = wrapper._commit

    def once() -> None:
        wrapper._commit = usual
        step(usual)

    monkeypatch.setattr(wrapper, "_commit", once)


def end_session() -> None:
    """The server ends the session of this thread's connection."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])


def lose_the_answer(commit: Commit) -> None:
    commit()
    end_session()
    with connection.wrap_database_errors:
        connection.connection.execute("SELECT 1")


def lose_the_commit(commit: Commit) -> None:
    end_session()
    commit()


def little_time() -> AbstractContextManager[None]:
    """Of the answers to the statements of this block; the server cancels none of them."""
    return limited(answer=0.5)


def fall_silent() -> None:
    """The server says nothing more on this thread's connection, which is cut for that; then its session ends."""
    session = connection.connection.info.backend_pid
    try:
        with connection.wrap_database_errors:
            connection.connection.execute("SELECT pg_sleep(3600)")
    finally:
        with psycopg.connect(database_url(), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [session])


def answer_too_late(commit: Commit) -> None:
    commit()
    fall_silent()
