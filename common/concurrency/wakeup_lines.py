"""How a wake-up gets from one process to the others: by PostgreSQL's NOTIFY, beside SQLite by a socket for each.

A line belongs to one thread. Its errors are those of `LOST`; then it is closed, and another one opened.
"""

import hashlib
import os
import secrets
import socket
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import psycopg
from django.db import connections

from common import private_files

LOST = (OSError, psycopg.Error)
CHANNEL = "darkroom_wakeups"
# The address of a Unix socket has 108 bytes on Linux and 104 elsewhere.
LONGEST_ADDRESS = 100
NAME_BYTES = 8
DATAGRAM_BYTES = 1024


class WakeupLine(Protocol):
    """To the other processes on this database."""

    def listen(self) -> None:
        """From now on `heard` tells what others send."""

    def fileno(self) -> int:
        """Readable when something was heard."""

    def send(self, topics: Iterable[str]) -> None:
        """To every process that listens."""

    def heard(self) -> set[str]:
        """The topics that others have sent since the last call; never waits."""

    def close(self) -> None:
        """Nothing is heard or sent any more."""


def has_others() -> bool:
    """Whether other processes can be on this database at all."""
    database = connections["default"]
    return database.vendor == "postgresql" or not str(database.settings_dict["NAME"]).startswith((":memory:", "file:"))


def opened() -> WakeupLine:
    """A line for this process. Raises what `LOST` names."""
    database = connections["default"]
    if database.vendor == "postgresql":
        return Notifications(database.get_connection_params())
    return Sockets(folder_of(str(database.settings_dict["NAME"])))


class Notifications:
    """A connection of its own, in no transaction and in no pool. NOTIFY in the transaction that submits a task would
    make all of them wait for one lock at their commits."""

    def __init__(self, parameters: dict[str, object]) -> None:
        self._connection = psycopg.Connection.connect(**parameters, autocommit=True)  # type: ignore[arg-type]

    def listen(self) -> None:
        self._connection.execute(f"LISTEN {CHANNEL}")

    def fileno(self) -> int:
        return self._connection.fileno()

    def send(self, topics: Iterable[str]) -> None:
        self._connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, " ".join(topics)])

    def heard(self) -> set[str]:
        own = self._connection.info.backend_pid
        told = [each for each in self._connection.notifies(timeout=0) if each.pid != own]
        return {topic for each in told for topic in each.payload.split()}

    def close(self) -> None:
        self._connection.close()


class Sockets:
    """A datagram socket in a folder for each process that listens. Nobody waits for anybody: a full one is told
    already, and one that nobody reads any more is removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own: Path | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def listen(self) -> None:
        if self._own is None:
            own = self._folder / secrets.token_hex(NAME_BYTES // 2)
            self._socket.bind(str(own))
            self._own = own

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, topics: Iterable[str]) -> None:
        words = " ".join(topics).encode()
        for other in self._folder.iterdir():
            if other != self._own:
                self._send_to(other, words)

    def _send_to(self, other: Path, words: bytes) -> None:
        try:
            self._socket.sendto(words, str(other))
        except ConnectionRefusedError:
            if other.is_socket():
                other.unlink(missing_ok=True)
        except OSError:  # full, gone, another user's: it also looks unasked
            pass

    def heard(self) -> set[str]:
        topics: set[str] = set()
        with suppress(BlockingIOError):
            while True:
                topics.update(self._socket.recv(DATAGRAM_BYTES).decode().split())
        return topics

    def close(self) -> None:
        self._socket.close()
        if self._own is not None:
            self._own.unlink(missing_ok=True)


def folder_of(database: str) -> Path:
    """The folder of the sockets, made where there is none: beside the database, so that whoever uses it finds it. For a
    long path it is one of this user's in the system's folder for temporary files."""
    beside = Path(os.path.abspath(f"{database}-wake"))
    if len(os.fsencode(beside)) + 1 + NAME_BYTES <= LONGEST_ADDRESS:
        beside.mkdir(private_files.FOLDER, exist_ok=True)
        private_files.tighten(beside)
        return beside
    digest = hashlib.sha256(os.fsencode(beside)).hexdigest()[:16]
    elsewhere = Path(tempfile.gettempdir()) / f"darkroom-{os.getuid()}-{digest}"
    elsewhere.mkdir(private_files.FOLDER, exist_ok=True)
    found = elsewhere.lstat()
    if found.st_uid != os.getuid() or not elsewhere.is_dir() or elsewhere.is_symlink():
        raise PermissionError(f"{elsewhere} is not this user's")
    return elsewhere
