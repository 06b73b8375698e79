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
        self._twins: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._shut_all)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            for twin in self._twins:
                twin.close()
            self._twins.clear()

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._ends_at - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.remaining == 0.0

    def watch(self, plain: socket.socket) -> None:
        """Shut this connection at the end. Takes the plain socket, before TLS wraps it."""
        # A duplicate of the descriptor: TLS detaches the original, and its own shutdown would let cipher text be
        # read as if it were plain.
        twin = plain.dup()
        with self._lock:
            self._twins.append(twin)
        if self.is_over:
            self._shut_all()

    def _shut_all(self) -> None:
        with self._lock:
            for twin in self._twins:
                with suppress(OSError):
                    twin.shutdown(socket.SHUT_RDWR)
