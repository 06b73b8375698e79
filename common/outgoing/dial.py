"""Opens outbound connections: looks the name up once, judges each of its addresses, dials one of the judged."""

import socket
import time
from collections.abc import Callable, Hashable
from ipaddress import ip_address
from typing import Literal

from common.outgoing import fault_words
from common.outgoing.deadline import Deadline
from common.outgoing.faults import AddressRefused, Failed
from common.outgoing.lookup import Chooser, Resolve, look_up, system_resolve
from common.urls import Address

Judge = Callable[[Address], str | None]

LOOKUP_SECONDS = 5.0


class Dialer:
    """Opens the connections of one exchange. `judge` says why an address must not be reached, None if it may;
    `chosen_by` whose share of which pool the lookups of its names take. `circle` names those who may share connections,
    since they judge alike; None for an exchange that wants a fresh one and leaves none behind."""

    def __init__(
        self,
        deadline: Deadline,
        *,
        judge: Judge,
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
            if reason := self._judge(address):
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
