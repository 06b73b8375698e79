"""Steps that are repeated until the database takes them."""

import sqlite3

import psycopg
import pytest
from django.db import IntegrityError, InterfaceError, OperationalError, ProgrammingError, connection

from common import sql
from common.database.database_retry import insist, is_passing, release_connection
from tests.databases import database_url

pytestmark = pytest.mark.django_db(transaction=True)


class Away:
    """A step that fails so many times."""

    def __init__(self, *errors):
        self.errors = list(errors)

    def __call__(self, result):
        if self.errors:
            raise self.errors.pop(0)
        return result


@pytest.mark.parametrize("error", [OperationalError("gone away"), InterfaceError("connection already closed")])
def test_a_database_that_is_away_is_waited_for(error):
    assert insist(Away(error, error), 7) == 7


@pytest.mark.parametrize("error", [ProgrammingError("syntax"), IntegrityError("twice"), ValueError("ours")])
def test_mistakes_are_not_repeated(error):
    with pytest.raises(type(error)):
        insist(Away(error), 7)


def test_a_wrong_statement_is_a_mistake_on_both_databases():
    with pytest.raises((OperationalError, ProgrammingError)) as raised:
        insist(sql.fetch, "SELECT no_such_column FROM tasks_task")
    assert not isinstance(raised.value, OperationalError) or not is_passing(raised.value)


def test_what_is_too_large_for_postgresql_is_a_mistake():
    error = OperationalError("total size of jsonb object elements exceeds the maximum")
    error.__cause__ = psycopg.errors.ProgramLimitExceeded()
    assert not is_passing(error)


def test_a_locked_sqlite_file_is_waited_for(tmp_path):
    path = tmp_path / "locked"
    with sqlite3.connect(path, isolation_level=None) as holder, sqlite3.connect(path, timeout=0) as waiting:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as raised:
            waiting.execute("SELECT 1 FROM sqlite_master")
        error = OperationalError()
        error.__cause__ = raised.value
        assert is_passing(error)
        holder.execute("ROLLBACK")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connections to kill")
def test_a_killed_connection_is_replaced():
    assert insist(sql.fetch, "SELECT 1") == [(1,)]
    with psycopg.connect(database_url()) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = %s",
            [connection.settings_dict["NAME"]],
        )
    assert insist(sql.fetch, "SELECT 1") == [(1,)]


def test_a_released_connection_is_closed():
    sql.fetch("SELECT 1")
    release_connection()
    assert connection.connection is None
