"""Bounds how many relayed calls this process serves at once, and ends them when it stops.

Each call occupies two descriptors: its client's and its upstream's, which may stay open a moment longer. A channel may
occupy three quarters of the slots, so that an upstream that hangs leaves room for others; an account half of them, so
that no account can fill a channel or the process alone.
"""

import asyncio
import resource
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Protocol

from common.concurrency.sharing import Holdings
from common.errors import RateLimited
from common.process import descriptors, shutdown

MOST = 4096
FEWEST = 16
ACCOUNT_PART, CHANNEL_PART = 0.5, 0.75
# Counted from SIGTERM; gunicorn's graceful_timeout (config/gunicorn.py) leaves time to settle the calls.
GRACE_SECONDS = 3.0
LOOK_SECONDS = 0.25


class Stoppable(Protocol):
    """A call that can be told to end."""

    def stop(self) -> None:
        """Ends the call at once because this process stops."""


def capacity_for(soft_limit: int) -> int:
    """Returns how many calls fit a descriptor limit: a quarter of the free descriptors, not counting those of the
    clients."""
    if soft_limit == resource.RLIM_INFINITY:
        return MOST
    return max(FEWEST, min(MOST, (soft_limit - descriptors.SPARE) // 4))


class InFlight:
    """Slots for the calls of one process, used by its event loop only. Tests set `room`; otherwise it follows from the
    descriptors."""

    def __init__(self, room: int | None = None) -> None:
        self._room = room
        self._held = Holdings()
        self._calls: set[Stoppable] = set()
        self._ends_at: float | None = None
        self._watched: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._calls)

    @contextmanager
    def slot(self, call: Stoppable, account_id: int) -> Iterator[None]:
        """Holds a slot for one call. Raises RateLimited."""
        if len(self._calls) >= self.room:
            raise _busy("Too many calls are in progress.")
        if not self.take(("account", account_id), ACCOUNT_PART):
            raise _busy("Too many calls of this account are in progress.")
        self._calls.add(call)
        self._look_later()
        try:
            yield
        finally:
            self._calls.discard(call)
            self.give_back(("account", account_id))

    def take(self, holder: Hashable, part: float) -> bool:
        """Takes a slot for an account or a channel that may hold `part` of all slots; False if none is free.
        `give_back` frees it."""
        if not self._held.fits(holder, most=max(int(self.room * part), 1)):
            return False
        self._held.take(holder)
        return True

    def give_back(self, holder: Hashable) -> None:
        self._held.give_back(holder)

    @property
    def room(self) -> int:
        if self._room is None:
            self._room = capacity_for(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        return self._room

    async def settled(self) -> None:
        """Returns once a stopping process has no calls left, including those without a client, for which the server
        does not wait."""
        while self._calls:
            await asyncio.sleep(LOOK_SECONDS)

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        if self._watched is not loop:
            self._watched = loop
            loop.call_later(LOOK_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends all calls once this process has been stopping for GRACE_SECONDS."""
        self._watched = None
        if not self._calls:
            return
        if not shutdown.is_stopping():
            self._ends_at = None
        elif self._ends_at is None:
            self._ends_at = loop.time() + GRACE_SECONDS
        elif loop.time() >= self._ends_at:
            for call in list(self._calls):
                call.stop()
        self._look_later()


def _busy(words: str) -> RateLimited:
    return RateLimited(words, headers={"Retry-After": "1"})


in_flight = InFlight()
