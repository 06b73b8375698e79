"""The connections of a web process: how many there may be, and how long each may go on with nothing done."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from common.http import front_body
from front.server.lanes import Lane

HEAD_SECONDS = 10.0
IDLE_SECONDS = 75.0
# A film may be paused for minutes by who watches it.
STALL_SECONDS = 600.0
# Those that have their last words and are read for nothing; half of the descriptors that are spare.
MOST_FAREWELLS = 256


class Guest(Protocol):
    """A connection, as this module knows it."""

    def hang_up(self) -> None:
        """End it at once, whatever it still had to say."""

    def unsent(self) -> int:
        """Bytes of answers that its client has not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """`room`: connections at once. Seconds: from the first byte of a head to its last; without a request; without
    taking a byte of an answer.
    """

    room: int
    head_seconds: float = HEAD_SECONDS
    idle_seconds: float = IDLE_SECONDS
    stall_seconds: float = STALL_SECONDS


class Places:
    """A guest is idle, sends a head, or is busy with a request; a busy one may also be slow to take its answer.

    One that is gone has no place to give way with, whatever is still heard of it. Every step costs the same for any
    number of guests.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: ConnectionLimits) -> None:
        self._room = limits.room
        self._guests: set[Guest] = set()
        self._heads: Lane[Guest] = Lane(loop, seconds=limits.head_seconds, overdue=_hang_up)
        self._idle: Lane[Guest] = Lane(loop, seconds=limits.idle_seconds, overdue=_hang_up)
        self._stalled: Lane[Guest] = Lane(loop, seconds=limits.stall_seconds, overdue=self._look_at_delivery)
        self._farewells: Lane[Guest] = Lane(loop, seconds=front_body.DRAIN_SECONDS, overdue=_hang_up)
        self._unsent: dict[Guest, int] = {}

    def admit(self, guest: Guest) -> bool:
        """Whether it has a place, which may be another's; it is idle then. No request in progress gives way."""
        if len(self._guests) >= self._room and not self._make_room():
            return False
        self._guests.add(guest)
        self._idle.enter(guest)
        return True

    def _make_room(self) -> bool:
        guest = self._heads.first() or self._idle.first()
        if guest is None:
            return False
        self.gone(guest)
        guest.hang_up()
        return True

    def idle(self, guest: Guest) -> None:
        """It has its answer. The beginning of a next head that came meanwhile counts from its own time."""
        if guest in self._guests and guest not in self._heads:
            self._idle.enter(guest)

    def sends_head(self, guest: Guest) -> None:
        """Some bytes, not the whole head. Only the first ones count: who drips has no more time."""
        self._idle.leave(guest)
        if guest in self._guests and guest not in self._heads:
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

    def parts(self, farewell: Guest) -> None:
        """It has its last words, and no place. In a crowd the first ones are cut short."""
        if len(self._farewells) >= MOST_FAREWELLS and (first := self._farewells.first()):
            self._farewells.leave(first)
            first.hang_up()
        self._farewells.enter(farewell)

    def gone(self, guest: Guest) -> None:
        """The connection is lost, or somebody else's now."""
        self._guests.discard(guest)
        self.busy(guest)
        self.flows(guest)
        self._farewells.leave(guest)

    def _look_at_delivery(self, guest: Guest) -> None:
        if guest.unsent() < self._unsent[guest]:
            self.stalls(guest)
        else:
            guest.hang_up()


def _hang_up(guest: Guest) -> None:
    guest.hang_up()
