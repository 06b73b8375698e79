"""Who writes to SQLite's file takes turns, first come first served."""

import sqlite3
import sys
from contextlib import closing

import pytest

from tests.common.sqlite.lines import HOLDER, Queue, connect, make, process, run, sign, signed, standing

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(sys.platform != "linux", reason="there are no turns without locks of open files"),
]


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "database")


def test_writers_get_in_as_they_came_over_threads_and_processes(path):
    names = [str(number) for number in range(8)]
    line = Queue(path)
    with closing(connect(path)) as first:
        run(first, "BEGIN IMMEDIATE")
        for name in names:
            line.add(name, apart=name in "256")
        assert run(first, "SELECT * FROM signed") == signed(path) == []  # who reads does not wait
        first.rollback()
    line.join()
    assert signed(path) == names


def test_a_writer_that_dies_lets_the_next_in(path):
    holder = process(HOLDER, path)
    assert holder.stdout.readline() == "in\n"
    line = Queue(path)
    line.add("1")
    holder.kill()
    holder.communicate()
    line.join()
    assert signed(path) == ["1"]


def test_who_has_waited_long_enough_leaves_the_line_to_the_others(path):
    line = Queue(path)
    with closing(connect(path)) as first, closing(connect(path, patience=0.1)) as hasty:
        run(first, "BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as raised:
            run(hasty, "BEGIN IMMEDIATE")
        assert raised.value.sqlite_errorcode == sqlite3.SQLITE_BUSY
        line.add("2")
        assert standing(path) == 2
        first.rollback()
        line.join()
        sign(hasty, "3")
    assert signed(path) == ["2", "3"]


def test_a_turn_ends_with_a_statement_that_fails(path):
    with closing(connect(path)) as first:
        for statement in ("INSERT INTO nothing VALUES (1)", "BEGIN IMMEDIATE; COMMIT"):
            with pytest.raises((sqlite3.OperationalError, sqlite3.ProgrammingError, sqlite3.Warning)):
                run(first, statement)
        assert standing(path) == 0


def test_a_connection_that_is_dropped_in_a_transaction_lets_the_next_in(path):
    first = connect(path)
    run(first, "BEGIN IMMEDIATE")
    first.close()
    assert standing(path) == 0


def test_a_writer_from_elsewhere_is_waited_for_within_the_same_time(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as shell, closing(connect(path, 0.1)) as ours:
        shell.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            sign(ours, "1")
        shell.execute("ROLLBACK")
        sign(ours, "1")
    assert signed(path) == ["1"]


def test_without_a_file_for_the_line_writers_go_on(tmp_path):
    path = make(tmp_path / "database")
    (tmp_path / "database-turns").mkdir()
    with closing(connect(path)) as connection:
        sign(connection, "2")
    assert signed(path) == ["2"]
