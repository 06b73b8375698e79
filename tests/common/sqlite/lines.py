"""Writers to one SQLite file, on threads and in processes, and who of them stands in line."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psutil

from common.sqlite import turns
from common.sqlite.connections import FileConnection, FileCursor
from tools.children import PATIENCE, wait_until
from tools.stack import ROOT

WRITER = """
import sys
from itertools import count
from pathlib import Path
from tests.common.sqlite.lines import connect, sign
connection = connect(Path(sys.argv[1]))
print("begins", flush=True)
for number in count() if len(sys.argv) < 3 else [sys.argv[2]]:
    sign(connection, str(number))
"""
"""Writes a name, or without one for ever."""
HOLDER = """
import sys, time
from pathlib import Path
from tests.common.sqlite.lines import connect, run
connection = connect(Path(sys.argv[1]))
run(connection, "BEGIN IMMEDIATE")
run(connection, "INSERT INTO signed VALUES ('half')")
print("in", flush=True)
time.sleep(3600)
"""
WRITERS_LOCKS = (120, 122)  # bytes of the file beside the log: to write, and to recover it


def make(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE signed (name TEXT)")
    return path


def connect(path: Path, patience: float = PATIENCE) -> FileConnection:
    connection = FileConnection(str(path), patience, check_same_thread=False)
    connection.isolation_level = None
    return connection


def run(connection: FileConnection, statement: str) -> list[tuple[object, ...]]:
    return list(connection.cursor(factory=FileCursor).execute(statement).fetchall())


def sign(connection: FileConnection, name: str) -> None:
    """Write the name, every other one in a transaction."""
    if int(name) % 2:
        run(connection, f"INSERT INTO signed VALUES ('{name}')")
    else:
        run(connection, "BEGIN IMMEDIATE")
        run(connection, f"INSERT INTO signed VALUES ('{name}')")
        connection.commit()


def signed(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return [name for (name,) in database.execute("SELECT name FROM signed ORDER BY rowid")]


def waiting(path: Path) -> int:
    """How many threads of this process stand in line at this file."""
    return turns.line_at(str(path)).waiting


def is_writing(pid: int, path: Path) -> bool:
    """Whether a process has SQLite's lock for writers, or that for looking into what others left."""
    file = f":{os.stat(f'{path}-shm').st_ino}"
    locks = [line.split()[1:] for line in Path("/proc/locks").read_text().splitlines()]
    own = [
        lock[5:] for lock in locks if lock[:4] == ["POSIX", "ADVISORY", "WRITE", str(pid)] and lock[4].endswith(file)
    ]
    return any(int(first) <= byte <= int(last) for first, last in own for byte in WRITERS_LOCKS)


def stop(pid: int) -> None:
    """SIGSTOP, until it has stopped."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, what="the stop")


def process(script: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


class Queue:
    """Writers that came one after the other, the next only when the one before stood in line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads: list[threading.Thread] = []

    def add(self, name: str) -> None:
        before = waiting(self.path)
        self._threads.append(threading.Thread(target=self._sign, args=(name,)))
        self._threads[-1].start()
        wait_until(lambda: waiting(self.path) > before, what="a place in line")

    def _sign(self, name: str) -> None:
        with closing(connect(self.path)) as connection:
            sign(connection, name)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(PATIENCE)
