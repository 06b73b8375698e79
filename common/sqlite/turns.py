"""Turns of a process's threads that write to one SQLite file: first come, first served.

Between processes SQLite's own lock decides, for which the first in each line looks every two milliseconds: a process
that is stopped holds up others only within a transaction. Of 64 threads that write all the time the slowest hundredth
of the transactions takes 12 to 15 times the median. With a plain lock in place of the line it takes 2,000 times as long
(64 ms beside 0.03 ms), and one thread writes twice as much as another; with SQLite's lock alone as well.
"""

import os
import sqlite3
import threading
import time
import weakref
from collections import deque

LOST_LOOK_SECONDS = 0.1
RUN_SECONDS, PAUSE_SECONDS = 0.05, 0.0025
"""After so long without a pause a process lets others look for SQLite's lock. Beside a process whose threads write all
the time, the slowest hundredth of another's transactions takes 5 to 18 ms; without pauses 9 to 80."""


def busy(words: str) -> sqlite3.OperationalError:
    """What SQLite says of a lock that was not had in time."""
    error = sqlite3.OperationalError(f"database is locked: {words}")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error


class Turn:
    """What one connection waits for before it writes."""

    def __init__(self, line: "WritersLine") -> None:
        self._line = line
        self.called = threading.Lock()  # somebody else's release is the call

    def take(self, ends_at: float) -> None:
        """Wait for it until that moment of time.monotonic. Raises OperationalError."""
        if not self._line.enter(self, ends_at):
            raise busy("others were writing all the time")

    def leave(self) -> None:
        """Let the next one in, if it is this one's turn."""
        self._line.leave(self)


class WritersLine:
    """The line at one database file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Turn] = deque()
        self._holder: weakref.ref[Turn] | None = None  # a connection may be dropped with its turn
        self._began = self._left = 0.0

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._waiting)

    def enter(self, turn: Turn, ends_at: float) -> bool:
        """Wait for the turn; False where it did not come in time."""
        if not self._is_free_for(turn) and not self._wait(turn, ends_at):
            return False
        self._pause()
        return True

    def leave(self, turn: Turn) -> None:
        """Call the next one, if it is this one's turn."""
        with self._lock:
            if self._current() is turn:
                self._left = time.monotonic()
                self._call_next()

    def _is_free_for(self, turn: Turn) -> bool:
        with self._lock:
            if self._current() is turn or (self._current() is None and not self._waiting):
                self._holder = weakref.ref(turn)
                return True
            turn.called.acquire(blocking=False)
            self._waiting.append(turn)
            return False

    def _wait(self, turn: Turn, ends_at: float) -> bool:
        while not turn.called.acquire(timeout=max(0.0, min(ends_at - time.monotonic(), LOST_LOOK_SECONDS))):
            with self._lock:
                if self._current() is None:
                    self._call_next()
                elif time.monotonic() >= ends_at and turn in self._waiting:
                    self._waiting.remove(turn)
                    return False
        return True

    def _pause(self) -> None:
        now = time.monotonic()
        if now - self._left > PAUSE_SECONDS:
            self._began = now
        elif now - self._began > RUN_SECONDS:
            time.sleep(PAUSE_SECONDS)
            self._began = time.monotonic()

    def _current(self) -> Turn | None:
        return self._holder() if self._holder else None

    def _call_next(self) -> None:
        self._holder = None
        if self._waiting:
            turn = self._waiting.popleft()
            self._holder = weakref.ref(turn)
            turn.called.release()


_lines: dict[str, WritersLine] = {}


def line_at(database: str) -> WritersLine:
    """The line of this process at a file."""
    return _lines.setdefault(database, WritersLine())


os.register_at_fork(after_in_child=_lines.clear)
