"""Connections to a SQLite file are kept for the next who asks, and only what is fit to be used."""

import os
from contextlib import closing

import pytest
from django.db import connection
from django.db.utils import OperationalError

from common.sqlite.base import DatabaseWrapper
from common.sqlite.connections import MOST_KEPT, FileConnection, kept, writes
from tests.common.sqlite.lines import connect, make, run, signed
from tests.umask import careless, others_may

pytestmark = [pytest.mark.once, pytest.mark.django_db]


@pytest.fixture
def wrapper(tmp_path):
    """A further database of Django's."""
    name = str(make(tmp_path / "database"))
    made = DatabaseWrapper({**connection.settings_dict, "NAME": name, "OPTIONS": {"timeout": 5}}, alias="further")
    yield made
    made.close()
    kept.close()


def use(wrapper, statement="SELECT 1"):
    with wrapper.cursor() as cursor:
        cursor.execute(statement)
    return wrapper.connection


def test_a_closed_connection_is_handed_to_the_next_who_asks(wrapper):
    first = use(wrapper)
    wrapper.close()
    assert wrapper.connection is None
    assert use(wrapper) is first


def test_a_new_database_is_for_its_owner_alone(wrapper, tmp_path):
    wrapper.settings_dict["NAME"] = str(tmp_path / "new")
    with careless():
        use(wrapper, "PRAGMA journal_mode = WAL")
        use(wrapper, "CREATE TABLE signed (name TEXT)")
    assert {path.name for path in tmp_path.glob("new*")} == {"new", "new-shm", "new-wal"}
    assert not any(map(others_may, tmp_path.glob("new*")))


def test_an_older_database_becomes_so_while_others_use_it(wrapper, tmp_path):
    file = tmp_path / "database"
    with closing(connect(file)) as older:
        run(older, "BEGIN IMMEDIATE")
        run(older, "INSERT INTO signed VALUES ('older')")
        for path in tmp_path.glob("database*"):
            path.chmod(0o664)
        assert use(wrapper)
        assert not any(map(others_may, tmp_path.glob("database*")))
        older.commit()
    assert signed(file) == ["older"]


def test_one_to_a_file_that_was_replaced_is_not(wrapper, tmp_path):
    use(wrapper)
    wrapper.close()
    os.replace(make(tmp_path / "restored"), tmp_path / "database")
    use(wrapper, "INSERT INTO signed VALUES ('new')")
    assert signed(tmp_path / "database") == ["new"]


def test_one_with_an_open_transaction_is_not(wrapper, tmp_path):
    first = use(wrapper, "BEGIN IMMEDIATE")
    use(wrapper, "INSERT INTO signed VALUES ('half')")
    wrapper.close()
    assert use(wrapper, "INSERT INTO signed VALUES ('whole')") is not first
    assert signed(tmp_path / "database") == ["whole"]


def test_one_that_had_a_fault_is_not(wrapper):
    first = use(wrapper)
    with pytest.raises(OperationalError):
        use(wrapper, "SELECT no_such_column FROM signed")
    wrapper.close()
    assert use(wrapper) is not first


def test_no_more_than_a_few_are_kept(wrapper):
    opened = []
    for _ in range(MOST_KEPT + 1):
        opened.append(use(wrapper))
        wrapper.connection = None
    for raw in opened:
        kept.give(wrapper.settings_dict["NAME"], raw)
    assert sum(kept.take(wrapper.settings_dict["NAME"]) is not None for _ in opened) == MOST_KEPT


def test_a_database_in_memory_is_kept_by_its_owner():
    entry = {**connection.settings_dict, "NAME": ":memory:", "OPTIONS": {}}
    wrapper = DatabaseWrapper(entry, alias="memory")
    use(wrapper, "CREATE TABLE here (name TEXT)")
    wrapper.close()
    use(wrapper, "INSERT INTO here VALUES ('still')")
    wrapper.connection.close()


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO tasks_task VALUES (1)", True),
        ("\n  update tasks_task SET id = 1", True),
        ("DELETE FROM tasks_task", True),
        ("BEGIN IMMEDIATE", True),
        ("WITH r AS (SELECT 1) UPDATE tasks_task SET id = 1", True),
        ("WITH r AS (SELECT 1)\nSELECT * FROM r", False),
        ("SELECT 'UPDATE' FROM tasks_task", False),
        ("BEGIN", False),
        ("PRAGMA busy_timeout", False),
    ],
)
def test_only_what_writes_takes_a_turn(statement, expected):
    assert writes(statement) is expected


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has a pool of its own")
def test_the_service_uses_them():
    connection.ensure_connection()
    assert isinstance(connection.connection, FileConnection)
