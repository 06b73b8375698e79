"""A deadline for network work that holds even where the other side sends a byte at a time: it shuts the sockets."""

import socket
import threading
import time
from contextlib import suppress
from typing import Self


class Deadline:
    """A context of so many seconds. Blocked reads and writes of watched sockets end when it does."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._watched: list[socket.socket] = []

    def __enter__(self) -> Self:
        warden.follow(self)
        return self

    def __exit__(self, *_: object) -> None:
        warden.leave(self)
        with self._lock:
            self._watched.clear()

    @property
    def ends_at(self) -> float:
        """A moment of time.monotonic."""
        return self._ends_at

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._ends_at - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.remaining == 0.0

    def watch(self, connected: socket.socket) -> None:
        """Shut this socket at the end, unless it is released before. For TLS it is a twin of the plain socket: TLS
        detaches the original, and its own shutdown would let cipher text be read as if it were plain."""
        with self._lock:
            self._watched.append(connected)
        if self.is_over:
            self.shut_all()

    def release(self, connected: socket.socket) -> None:
        """Watch it no more. From now on it may be closed: its number is never shut under another connection."""
        with self._lock, suppress(ValueError):
            self._watched.remove(connected)

    def shut_all(self) -> None:
        with self._lock:
            for connected in self._watched:
                with suppress(OSError):
                    connected.shutdown(socket.SHUT_RDWR)


class Warden:
    """Shuts the sockets of deadlines that are over, on one thread for all of them.

    It wakes for the earliest that it knew when it fell asleep. Most are left long before, so it seldom wakes at all.
    """

    def __init__(self) -> None:
        self._running: set[Deadline] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wakes_at = 0.0

    @property
    def running(self) -> list[Deadline]:
        """Those that are neither left nor over."""
        with self._changed:
            return list(self._running)

    def follow(self, deadline: Deadline) -> None:
        """Raises RuntimeError where the system has no thread left."""
        with self._changed:
            if self._thread is None or not self._thread.is_alive():  # none yet, or this process was forked
                self._thread = threading.Thread(target=self._watch, name="deadlines", daemon=True)
                self._thread.start()
            self._running.add(deadline)
            if deadline.ends_at < self._wakes_at:
                self._changed.notify()

    def leave(self, deadline: Deadline) -> None:
        with self._changed:
            self._running.discard(deadline)

    def _watch(self) -> None:
        while True:
            for deadline in self._next_over():
                deadline.shut_all()

    def _next_over(self) -> list[Deadline]:
        """Wait until some are over; from then on they are followed no more."""
        with self._changed:
            while not (over := [each for each in self._running if each.is_over]):
                self._wakes_at = min((each.ends_at for each in self._running), default=threading.TIMEOUT_MAX)
                self._changed.wait(min(self._wakes_at - time.monotonic(), threading.TIMEOUT_MAX))
            self._running.difference_update(over)
            return over


warden = Warden()
