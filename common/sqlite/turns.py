"""Turns of those who write to one SQLite file: first come, first served, over threads and processes.

SQLite lets a writer that finds another at work sleep and look again, ever more rarely, so that whoever comes later
overtakes it. Here everybody takes a number, which is the clock's: it locks the byte of that number in a file beside the
database. It is somebody's turn when nobody before it has its byte any more. The kernel frees the bytes of a process
that dies. Who writes without a number, such as another program, only meets SQLite's own lock.
"""

import fcntl
import logging
import os
import sqlite3
import struct
import threading
import time
from collections import deque

logger = logging.getLogger(__name__)

# Linux: locks of an open file. The older ones are a whole process's, and one thread could drop another's.
ARE_HERE = hasattr(fcntl, "F_OFD_SETLK")


def _lock(file: int, kind: int, start: int, length: int, *, waits: bool = False) -> None:
    """Lock or unlock these bytes, or those from `start` on where the length is 0. Raises OSError."""
    command = fcntl.F_OFD_SETLKW if waits else fcntl.F_OFD_SETLK
    fcntl.fcntl(file, command, struct.pack("hhqqi", kind, os.SEEK_SET, start, length, 0))


class Stand:
    """Where one connection may stand in line. Collected, it gives up its turn like a process that dies."""

    def __init__(self, line: "WritersLine", file: int) -> None:
        self._line = line
        self.file = file
        self.number = 0
        self.called = threading.Lock()

    def take(self, seconds: float) -> float:
        """Wait for this turn; the seconds that are left. Raises OperationalError where they are not enough."""
        if self.number or self._line.enter(self):
            return seconds
        began = time.monotonic()
        # Somebody else's release of this lock is the call.
        if not self.called.acquire(timeout=max(0.0, seconds)) and self._line.give_up(self):
            error = sqlite3.OperationalError("database is locked: others were writing all the time")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return max(0.0, seconds - (time.monotonic() - began))

    def leave(self) -> None:
        """Let the next one in."""
        if self.number:
            self.number = 0
            _lock(self.file, fcntl.F_UNLCK, 0, 0)

    def __del__(self) -> None:
        os.close(self.file)


class WritersLine:
    """The line at one database file, seen from this process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._waiting: deque[Stand] = deque()
        self._somebody_waits = threading.Condition(self._lock)
        self._caller: threading.Thread | None = None

    def open(self) -> int:
        """A descriptor of the file of numbers. Raises OSError."""
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o660)

    def enter(self, stand: Stand) -> bool:
        """Take a number; whether it is its turn at once. Else the stand is called."""
        with self._lock:
            stand.number = self._numbered(stand)
            if not self._waiting and self._is_first(stand):
                return True
            if self._caller is None:
                self._caller = threading.Thread(target=self._call, name="turns", daemon=True)
                self._caller.start()
            stand.called.acquire(blocking=False)
            self._waiting.append(stand)
            self._somebody_waits.notify()
            return False

    def give_up(self, stand: Stand) -> bool:
        """Leave the line; False where it has just been called."""
        with self._lock:
            if stand not in self._waiting:
                return False
            self._waiting.remove(stand)
            stand.leave()
            return True

    def _numbered(self, stand: Stand) -> int:
        while True:
            number = time.monotonic_ns()
            try:
                _lock(stand.file, fcntl.F_WRLCK, number, 1)
            except BlockingIOError:  # somebody has this number, or has had its turn since the clock was read
                continue
            return number

    def _is_first(self, stand: Stand) -> bool:
        """If so, nobody can take a number before it any more."""
        try:
            _lock(stand.file, fcntl.F_RDLCK, 0, stand.number)
        except BlockingIOError:
            return False
        return True

    def _call(self) -> None:
        """A thread that waits in the kernel for those who wait here, because nobody can give up a wait there."""
        try:
            file = self.open()
            while True:
                self._call_next(file)
        except OSError:
            logger.exception("no turns can be called, so the writers take none")
            with self._lock:
                self._caller = None
                while self._waiting:
                    self._waiting.popleft().called.release()

    def _call_next(self, file: int) -> None:
        with self._lock:
            while not self._waiting:
                self._somebody_waits.wait()
            number = self._waiting[0].number
        _lock(file, fcntl.F_RDLCK, 0, number, waits=True)
        with self._lock:
            if self._waiting and self._waiting[0].number == number:
                stand = self._waiting.popleft()
                self._is_first(stand)
                stand.called.release()
        _lock(file, fcntl.F_UNLCK, 0, 0)


_lines: dict[str, WritersLine] = {}


def stand_at(database: str) -> Stand | None:
    """A place in the line at this file; None where there can be none: on another system, or in a folder that
    cannot be written."""
    if not ARE_HERE:
        return None
    try:
        line = _lines.setdefault(database, WritersLine(f"{database}-turns"))
        stand = Stand(line, line.open())
        _lock(stand.file, fcntl.F_UNLCK, 0, 0)
        return stand
    except OSError as error:
        logger.info("the writers to %s take no turns: %s", database, error)
        return None


def _forget() -> None:
    """A forked child has none of the threads that call."""
    _lines.clear()


os.register_at_fork(after_in_child=_forget)
