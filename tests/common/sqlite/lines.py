"""Writers to one SQLite file, on threads and in processes, and who of them stands in line."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

from common.sqlite.connections import FileConnection, FileCursor
from tools.children import PATIENCE, wait_until
from tools.stack import ROOT

WRITER = """
import sys
from pathlib import Path
from tests.common.sqlite.lines import connect, sign
sign(connect(Path(sys.argv[1])), sys.argv[2])
"""
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


def standing(path: Path) -> int:
    """How many have a number at this file, whoever's turn it is included."""
    inode = os.stat(f"{path}-turns").st_ino
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return sum(f"OFDLCK ADVISORY WRITE -1 {lock[5]}" == " ".join(lock[1:6]) and lock[5].endswith(f":{inode}")
               for lock in locks)  # fmt: skip


def process(script: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


class Queue:
    """Writers that came one after the other, the next only when the one before stood in line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads: list[threading.Thread] = []
        self._processes: list[subprocess.Popen[str]] = []

    def add(self, name: str, *, apart: bool = False) -> None:
        before = standing(self.path)
        if apart:
            self._processes.append(process(WRITER, self.path, name))
        else:
            self._threads.append(threading.Thread(target=self._sign, args=(name,)))
            self._threads[-1].start()
        wait_until(lambda: standing(self.path) > before, what="a number")

    def _sign(self, name: str) -> None:
        with closing(connect(self.path)) as connection:
            sign(connection, name)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(PATIENCE)
        for child in self._processes:
            child.communicate(timeout=PATIENCE)
