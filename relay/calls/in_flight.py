"""The relayed calls that this process has at once: how many there may be, and how they end when it stops.

Each call occupies two descriptors, its client's and its upstream's, and the latter may be kept for a moment. A channel
has at most three quarters of the places, so that one upstream that hangs leaves room for the others, and an account at
most half, so that no account fills a channel, or the process, alone.
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
# From SIGTERM on; gunicorn's graceful_timeout (config/gunicorn.py) leaves what is needed to settle them.
GRACE_SECONDS = 3.0
LOOK_SECONDS = 0.25


class Stoppable(Protocol):
    """A call, as this module knows it."""

    def stop(self) -> None:
        """End at once: this process stops."""


def capacity_for(soft_limit: int) -> int:
    """How many calls so many descriptors allow: a quarter of those that are free is theirs, a client's not counted."""
    if soft_limit == resource.RLIM_INFINITY:
        return MOST
    return max(FEWEST, min(MOST, (soft_limit - descriptors.SPARE) // 4))


class InFlight:
    """The places of one process; only its event loop counts. `room` is for tests: else the descriptors say."""

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
        """Of one call, while it lasts. Raises RateLimited."""
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
        """Whether there was one more place for an account, or a channel, which has so much of all; it is given back."""
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
        """Returns once no call is left, of a process that stops: also those whose clients have left, for which the
        server does not wait."""
        while self._calls:
            await asyncio.sleep(LOOK_SECONDS)

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        if self._watched is not loop:
            self._watched = loop
            loop.call_later(LOOK_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends all calls once this process has been stopping for long enough."""
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
