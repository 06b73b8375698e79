"""Opens outbound connections: looks the name up once, judges each of its addresses, dials one of the judged."""

import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from ipaddress import ip_address
from typing import Literal

from common import outbound_words
from common.deadline import Deadline
from common.urls import Address

Resolve = Callable[[str, int], Sequence[str]]
Judge = Callable[[Address], str | None]

LOOKUP_SECONDS = 5.0
# Lookups that hang in the system's resolver cannot be ended, only outlived: this many at most.
LOOKUPS = threading.BoundedSemaphore(64)


class AddressRefused(Exception):
    """The policy forbids this address; nothing was sent."""


class Failed(Exception):
    """The network, the time or the size. `was_sent`: whether the request may have reached the other side.

    `words` are for everyone. The text of the exception adds `detail`, the raw error: it is for the operator alone.
    """

    def __init__(
        self,
        words: str,
        *,
        detail: str = "",
        reason: Literal["network", "time", "size"] = "network",
        was_sent: bool,
    ) -> None:
        super().__init__(f"{words}: {detail}" if detail else words)
        self.words = words
        self.reason = reason
        self.was_sent = was_sent


def system_resolve(host: str, port: int) -> list[str]:
    """The addresses of a name as the system's resolver gives them. Raises OSError."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Dialer:
    """Opens the connections of one exchange. `judge` says why an address must not be reached, None if it may."""

    def __init__(
        self, deadline: Deadline, *, judge: Judge, connect_seconds: float, resolve: Resolve = system_resolve
    ) -> None:
        self.deadline = deadline
        self.has_connected = False  # set once a connection, TLS included, stands and a request can go out
        self._judge = judge
        self._connect_seconds = connect_seconds
        self._resolve = resolve

    def dial(self, host: str, port: int) -> socket.socket:
        """A connected socket under the deadline. Raises AddressRefused if any of the addresses is, or Failed."""
        addresses = self._addresses(host, port)
        if not addresses:
            raise Failed("the host name has no address", was_sent=False)
        for address in addresses:
            if reason := self._judge(address):
                raise AddressRefused(f"{host} {reason}")
        connected = self._connect(addresses, port)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.deadline.watch(connected)
        return connected

    def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ip_address(host)]
        except ValueError:
            pass
        answers = look_up(self._resolve, host, port, seconds=min(LOOKUP_SECONDS, self.deadline.remaining))
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
        words = outbound_words.of_fault(problem, is_late=is_late, was_sent=False)
        reason: Literal["time", "network"] = "time" if is_late else "network"
        raise Failed(words, detail=str(problem), reason=reason, was_sent=False) from problem


def look_up(resolve: Resolve, host: str, port: int, *, seconds: float) -> Sequence[str]:
    """What the resolver answers within so many seconds. Raises Failed."""
    if not LOOKUPS.acquire(timeout=seconds):
        raise Failed("too many name lookups hang", reason="time", was_sent=False)
    answer: Future[Sequence[str]] = Future()

    def run() -> None:
        try:
            answer.set_result(resolve(host, port))
        except (OSError, UnicodeError) as error:
            answer.set_exception(error)
        finally:
            LOOKUPS.release()

    # A daemon of its own, not an executor's thread: those are joined at exit, hanging lookup and all.
    threading.Thread(target=run, name="look-up", daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError as error:
        raise Failed("the name lookup took too long", reason="time", was_sent=False) from error
    except (OSError, UnicodeError) as error:
        raise Failed("the host name cannot be resolved", detail=str(error)[:300], was_sent=False) from error
