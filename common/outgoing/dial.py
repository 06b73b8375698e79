"""Opens outbound connections: looks the name up once, judges each of its addresses, dials one of the judged. All of it
is under a deadline, which holds even where the other side sends a byte at a time: it shuts the sockets."""

import socket
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from ipaddress import ip_address
from typing import Literal, Self

from common.outgoing import fault_words
from common.outgoing.faults import AddressRefused, Failed
from common.outgoing.lookup import Chooser, Resolve, look_up, system_resolve
from common.urls import Address

Judge = Callable[[Address], str | None]

LOOKUP_SECONDS = 5.0


class Deadline:
    """A context of so many seconds, until `ends_at` by time.monotonic. Blocked reads and writes of watched sockets end
    when it does."""

    def __init__(self, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
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
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.ends_at - time.monotonic())

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.ends_at

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


class Dialer:
    """Opens the connections of one exchange. `judge` says why an address must not be reached, None if it may; without
    one any may. `chosen_by` says whose share of which pool the lookups of its names take. `circle` names those who may
    share connections, since they judge alike; None for an exchange that wants a fresh one and leaves none behind."""

    def __init__(
        self,
        deadline: Deadline,
        *,
        judge: Judge | None,
        chosen_by: Chooser,
        connect_seconds: float,
        resolve: Resolve = system_resolve,
        circle: Hashable | None = None,
    ) -> None:
        self.deadline = deadline
        self.circle = circle
        self.has_connected = False  # set once a connection, TLS included, stands and a request can go out
        self._judge = judge
        self._chosen_by = chosen_by
        self._connect_seconds = connect_seconds
        self._resolve = resolve

    @property
    def connect_share(self) -> float:
        """How long a connection may take, or take nothing of what is sent: seconds of those that are left."""
        return max(0.001, min(self._connect_seconds, self.deadline.remaining))

    def dial(self, host: str, port: int) -> socket.socket:
        """A connected socket, to be watched. Raises AddressRefused if any of the addresses is, or Failed."""
        addresses = self._addresses(host, port)
        if not addresses:
            raise Failed("the host name has no address", was_sent=False)
        for address in addresses:
            if self._judge and (reason := self._judge(address)):
                raise AddressRefused(f"{host} {reason}")
        connected = self._connect(addresses, port)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected

    def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        seconds = min(LOOKUP_SECONDS, self.deadline.remaining)
        answers = look_up(self._resolve, host, port, chosen_by=self._chosen_by, seconds=seconds)
        return [ip_address(answer) for answer in dict.fromkeys(answers)]

    def _connect(self, addresses: list[Address], port: int) -> socket.socket:
        """The first address that answers; each gets an equal share of the time that is left."""
        ends_at = time.monotonic() + min(self._connect_seconds, self.deadline.remaining)
        problem: OSError = TimeoutError("no time was left")
        for waiting, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            left = ends_at - time.monotonic()
            if left <= 0:
                break
            try:
                return socket.create_connection((str(address), port), timeout=left / waiting)
            except OSError as error:
                problem = error
        is_late = isinstance(problem, TimeoutError)
        words = fault_words.of_fault(problem, is_late=is_late, was_sent=False)
        reason: Literal["time", "network"] = "time" if is_late else "network"
        raise Failed(words, detail=str(problem), reason=reason, was_sent=False) from problem
