"""What the bodies of requests occupy in this process, in bytes: bounded, and a quarter of it for each payer.

Bytes count from the moment they have arrived, in memory or on disk, until the request has been answered.
"""

import threading
from collections import Counter
from collections.abc import Hashable

from django.conf import settings

from common.errors import ServiceUnavailable

PARTS = 4


class SpoolFull(ServiceUnavailable):
    """No room for the body now; there is once other requests have been answered."""

    default_message = "Too many request bodies are being received; try again later."


class BodySpool:
    """The bytes that are held, by payer: an account's id, or a name for those who have none yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.held: Counter[Hashable] = Counter()

    def has_room(self, payer: Hashable, count: int) -> bool:
        most = settings.MAX_SPOOL_BYTES
        return self.held[payer] + count <= most // PARTS and self.held.total() + count <= most


class Room:
    """What one body occupies. It is given back exactly once, whichever thread is the last to need it."""

    def __init__(self, payer: Hashable) -> None:
        self._payer = payer
        self._count = 0

    def add(self, count: int) -> None:
        """So many bytes more. Raises SpoolFull."""
        with spool.lock:
            self._require(self._payer, count)
            spool.held[self._payer] += count
            self._count += count

    def expect(self, count: int) -> None:
        """Raises SpoolFull where so many bytes in all would not fit as of now; nothing is kept free for them."""
        with spool.lock:
            self._require(self._payer, count - self._count)

    def move(self, payer: Hashable) -> None:
        """The body turned out to be this payer's. Raises SpoolFull."""
        with spool.lock:
            count = self._taken()
            self._payer = payer
            self._require(payer, count)
            spool.held[payer] += count
            self._count = count

    def release(self) -> None:
        with spool.lock:
            self._taken()

    @staticmethod
    def _require(payer: Hashable, count: int) -> None:
        if not spool.has_room(payer, count):
            raise SpoolFull

    def _taken(self) -> int:
        count, self._count = self._count, 0
        spool.held[self._payer] -= count
        if not spool.held[self._payer]:
            del spool.held[self._payer]
        return count


spool = BodySpool()
