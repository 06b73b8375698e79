"""The connections of a web process, and how long each may go on without getting anything done."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from front.server.lanes import Lane

HEAD_SECONDS = 10.0
IDLE_SECONDS = 75.0
# A film may be paused for minutes by who watches it.
STALL_SECONDS = 600.0


class Guest(Protocol):
    """A connection, as this module knows it."""

    def hang_up(self) -> None:
        """End it at once, whatever it still had to say."""

    def unsent(self) -> int:
        """Bytes of answers that its client has not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Seconds: from the first byte of a head to its last; without a request; without taking a byte of an answer."""

    head_seconds: float = HEAD_SECONDS
    idle_seconds: float = IDLE_SECONDS
    stall_seconds: float = STALL_SECONDS


class Places:
    """A guest is idle, sends a head, or is busy with a request; a busy one may also be slow to take its answer."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: ConnectionLimits) -> None:
        self._heads: Lane[Guest] = Lane(loop, seconds=limits.head_seconds, overdue=_hang_up)
        self._idle: Lane[Guest] = Lane(loop, seconds=limits.idle_seconds, overdue=_hang_up)
        self._stalled: Lane[Guest] = Lane(loop, seconds=limits.stall_seconds, overdue=self._look_at_delivery)
        self._unsent: dict[Guest, int] = {}

    def idle(self, guest: Guest) -> None:
        """It came, or has its answer. The beginning of a next head that came meanwhile counts from its own time."""
        if guest not in self._heads:
            self._idle.enter(guest)

    def sends_head(self, guest: Guest) -> None:
        """Some bytes, not the whole head. Only the first ones count: who drips has no more time."""
        self._idle.leave(guest)
        if guest not in self._heads:
            self._heads.enter(guest)

    def busy(self, guest: Guest) -> None:
        """The head is whole; the request is in progress until `idle`."""
        self._heads.leave(guest)
        self._idle.leave(guest)

    def stalls(self, guest: Guest) -> None:
        """The client does not take what is sent."""
        self._unsent[guest] = guest.unsent()
        self._stalled.enter(guest)

    def flows(self, guest: Guest) -> None:
        """It has taken everything."""
        self._unsent.pop(guest, None)
        self._stalled.leave(guest)

    def gone(self, guest: Guest) -> None:
        """The connection is lost."""
        self.busy(guest)
        self.flows(guest)

    def _look_at_delivery(self, guest: Guest) -> None:
        if guest.unsent() < self._unsent[guest]:
            self.stalls(guest)
        else:
            guest.hang_up()


def _hang_up(guest: Guest) -> None:
    guest.hang_up()
