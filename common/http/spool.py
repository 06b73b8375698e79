"""What the bodies of requests occupy in this process, in bytes: bounded, and a quarter of it for each payer.

Bytes count from the moment they have arrived, in memory or on disk, until the request has been answered. What they
unfold to in memory counts beside them (`common/http/unfolding.py`).
"""

import asyncio
import threading
from collections.abc import Hashable

from django.conf import settings

from common.concurrency import promises
from common.concurrency.sharing import Holdings
from common.errors import ServiceUnavailable
from common.http.unfolding import memory

PARTS = 4
UNFOLDING_SECONDS = 30.0


class SpoolFull(ServiceUnavailable):
    """No room for the body now; there is once other requests have been answered."""

    default_message = "Too many request bodies are being received; try again later."


class BodySpool:
    """The bytes that are held, by payer: an account's id, or a name for those who have none yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held = Holdings()
        self.beyond: dict[Hashable, Room] = {}
        """By payer: the one that may go on where there is no room any more."""

    def has_room(self, payer: Hashable, count: int) -> bool:
        most = settings.MAX_SPOOL_BYTES
        return self.held.fits(payer, count, most=most // PARTS, room=most)

    def require(self, payer: Hashable, count: int) -> None:
        """Raises SpoolFull where there is no room."""
        if not self.has_room(payer, count):
            raise SpoolFull


class Room:
    """What one body occupies. It is given back exactly once, whichever thread is the last to need it."""

    def __init__(self, payer: Hashable) -> None:
        self._payer = payer
        self._count = 0
        self._unfolded = 0

    def add(self, count: int) -> None:
        """So many bytes more. Raises SpoolFull."""
        with spool.lock:
            spool.require(self._payer, count)
            spool.held.take(self._payer, count)
            self._count += count

    def insist(self, count: int) -> bool:
        """So many bytes more of what has been paid for; False where they have to wait. Where there is no room, one of
        each payer goes on until it is released: else all that hold a part would wait for each other."""
        with spool.lock:
            if not spool.has_room(self._payer, count) and spool.beyond.setdefault(self._payer, self) is not self:
                return False
            spool.held.take(self._payer, count)
            self._count += count
            return True

    def expect(self, count: int) -> None:
        """Raises SpoolFull where so many bytes in all would not fit as of now; nothing is kept free for them."""
        with spool.lock:
            spool.require(self._payer, count - self._count)

    def move(self, payer: Hashable) -> None:
        """The body turned out to be this payer's. Raises SpoolFull."""
        with spool.lock:
            count = self._taken()
            self._payer = payer
            spool.require(payer, count)
            spool.held.take(payer, count)
            self._count = count

    async def unfold(self, count: int) -> None:
        """So many bytes of memory, once there is room for them. Raises SpoolFull where none comes in half a minute."""
        self.fold(0)
        promise = memory.take(self._payer, count)
        try:
            async with asyncio.timeout(UNFOLDING_SECONDS):
                await promises.awaited(promise)
        except BaseException as error:
            memory.give_back(self._payer, 0 if promise.cancel() else count)
            if isinstance(error, TimeoutError):
                raise SpoolFull from None
            raise
        self._unfolded = count

    def fold(self, count: int) -> None:
        """Keep so many of these bytes."""
        with spool.lock:
            given_back, self._unfolded = self._unfolded - count, count
        if given_back:
            memory.give_back(self._payer, given_back)

    def release(self) -> None:
        if self._unfolded:
            self.fold(0)
        with spool.lock:
            self._taken()
            if spool.beyond.get(self._payer) is self:
                del spool.beyond[self._payer]

    def _taken(self) -> int:
        count, self._count = self._count, 0
        spool.held.give_back(self._payer, count)
        return count


spool = BodySpool()
