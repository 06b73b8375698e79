"""The threads that write to SQLite's file take turns, first come first served, and wait for no process that does not
write."""

import gc
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import count
from types import SimpleNamespace

import pytest

from common.sqlite.connections import FileCursor
from common.sqlite.turns import PAUSE_SECONDS, RUN_SECONDS
from tests.common.sqlite.lines import (
    HOLDER,
    WRITER,
    Queue,
    connect,
    is_writing,
    make,
    process,
    run,
    sign,
    signed,
    stop,
    waiting,
)
from tools.children import PATIENCE

pytestmark = pytest.mark.once
TELLS_LOCKS = pytest.mark.skipif(sys.platform != "linux", reason="who has a lock is not known without /proc/locks")
ROUNDS = 5


@pytest.fixture
def path(tmp_path):
    return make(tmp_path / "database")


@pytest.fixture
def children():
    """Processes that do not outlive the test, however they are stopped."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for child in started:
        child.kill()
        child.communicate()


def begun(children, script, *arguments):
    children.append(process(script, *arguments))
    children[-1].stdout.readline()
    return children[-1]


def test_threads_get_in_as_they_came(path):
    names = [str(number) for number in range(8)]
    line = Queue(path)
    with closing(connect(path)) as first:
        run(first, "BEGIN IMMEDIATE")
        for name in names:
            line.add(name)
        assert run(first, "SELECT * FROM signed") == signed(path) == []  # who reads does not wait
        first.rollback()
    line.join()
    assert signed(path) == names


def test_a_writer_that_dies_lets_the_next_in(path, children):
    holder = begun(children, HOLDER, path)
    with closing(connect(path, patience=0.05)) as ours, pytest.raises(sqlite3.OperationalError, match="locked"):
        sign(ours, "1")
    holder.kill()
    with closing(connect(path)) as ours:
        sign(ours, "1")
    assert signed(path) == ["1"]


def test_processes_write_beside_each_other(path, children):
    with closing(connect(path)) as first:
        run(first, "BEGIN IMMEDIATE")
        for name in "123":
            begun(children, WRITER, path, name)
        first.rollback()
    for child in children:
        assert child.wait(PATIENCE) == 0
    assert sorted(signed(path)) == ["1", "2", "3"]


@TELLS_LOCKS
def test_a_process_that_is_stopped_outside_of_a_transaction_holds_up_nobody(path, children):
    writers = [begun(children, WRITER, path) for _ in range(3)]
    chance, rounds = random.Random(7), 0
    while rounds < ROUNDS:
        stopped = chance.choice(writers)
        time.sleep(chance.uniform(0, 0.005))
        stop(stopped.pid)
        if not is_writing(stopped.pid, path):
            with closing(connect(path)) as ours:
                sign(ours, str(rounds))
            rounds += 1
        os.kill(stopped.pid, signal.SIGCONT)


@TELLS_LOCKS
def test_a_process_that_is_stopped_while_it_waits_holds_up_nobody(path, children):
    with closing(connect(path)) as first:
        run(first, "BEGIN IMMEDIATE")
        stopped = begun(children, WRITER, path, "1")
        time.sleep(0.05)
        stop(stopped.pid)
        first.rollback()
        for name in "23":
            sign(first, name)
    os.kill(stopped.pid, signal.SIGCONT)
    assert stopped.wait(PATIENCE) == 0
    assert signed(path) == ["2", "3", "1"]


@TELLS_LOCKS
def test_one_that_is_stopped_within_a_transaction_is_waited_for(path, children):
    stopped = begun(children, HOLDER, path)
    stop(stopped.pid)
    assert is_writing(stopped.pid, path)
    with closing(connect(path, patience=0.05)) as ours, pytest.raises(sqlite3.OperationalError, match="locked"):
        sign(ours, "1")


def test_who_has_waited_long_enough_leaves_the_line_to_the_others(path):
    line = Queue(path)
    with closing(connect(path)) as first, closing(connect(path, patience=0.1)) as hasty:
        run(first, "BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as raised:
            run(hasty, "BEGIN IMMEDIATE")
        assert raised.value.sqlite_errorcode == sqlite3.SQLITE_BUSY
        assert waiting(path) == 0
        line.add("2")
        first.rollback()
        line.join()
        sign(hasty, "3")
    assert signed(path) == ["2", "3"]


def test_a_turn_ends_with_a_statement_that_fails(path):
    with closing(connect(path)) as first, closing(connect(path, patience=0.0)) as next_one:
        for statement in ("INSERT INTO nothing VALUES (1)", "BEGIN IMMEDIATE; COMMIT"):
            with pytest.raises((sqlite3.OperationalError, sqlite3.ProgrammingError, sqlite3.Warning)):
                run(first, statement)
            sign(next_one, "1")


def test_a_turn_ends_with_its_transaction_however_that_ends(path):
    with closing(connect(path)) as first, closing(connect(path, patience=0.0)) as next_one:
        for end in (lambda: run(first, "COMMIT"), lambda: run(first, "ROLLBACK"), first.commit, first.rollback):
            run(first, "BEGIN IMMEDIATE")
            end()
            sign(next_one, "1")


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_connection_that_is_dropped_in_a_transaction_lets_the_next_in(path, is_closed):
    line = Queue(path)
    first = connect(path)
    run(first, "BEGIN IMMEDIATE")
    line.add("1")
    if is_closed:
        first.close()
    del first
    gc.collect()
    line.join()
    assert signed(path) == ["1"]


def test_many_rows_are_written_all_or_not_at_all(path):
    with closing(connect(path)) as ours:
        ours.cursor(factory=FileCursor).executemany("INSERT INTO signed VALUES (%s)", [("1",), ("2",)])
        with pytest.raises(sqlite3.Error):
            ours.cursor(factory=FileCursor).executemany("INSERT INTO signed VALUES (%s)", [("3",), ("4", "5")])
        assert not ours.in_transaction
    assert signed(path) == ["1", "2"]


@pytest.mark.parametrize(("between", "is_told_to_pause"), [(PAUSE_SECONDS / 4, True), (PAUSE_SECONDS * 2, False)])
def test_who_writes_without_a_pause_leaves_others_one(path, monkeypatch, between, is_told_to_pause):
    """Else they would have one look in a hundred, between its transactions."""
    pauses, moments = [], count(step=between)
    passed = SimpleNamespace(monotonic=lambda: next(moments), sleep=pauses.append)
    monkeypatch.setattr("common.sqlite.turns.time", passed)
    with closing(connect(path)) as ours:
        for _ in range(round(2 * RUN_SECONDS / between)):
            sign(ours, "1")
    assert bool(pauses) is is_told_to_pause


def test_a_writer_from_elsewhere_is_waited_for_within_the_same_time(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as shell, closing(connect(path, 0.1)) as ours:
        shell.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            sign(ours, "1")
        shell.execute("ROLLBACK")
        sign(ours, "1")
    assert signed(path) == ["1"]
