"""Open connections that wait for the next exchange with the same origin, for requests that buy nothing.

A connection was judged when it was dialled. So none is old, none waits for long, and at any doubt it is closed: its
successor is looked up and judged anew. Who judges otherwise, or for somebody else, has a circle of its own.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from common.outgoing.connections import PlainConnection

LONGEST_SECONDS = 60.0  # from the dial on
IDLE_SECONDS = 30.0
MOST = 128
MOST_OF_ORIGIN = 32

Origin = tuple[Hashable, str, str, int]
"""The circle, scheme, host and port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """`dialled_at` and `since` are moments of the clock."""

    origin: Origin
    connection: PlainConnection
    dialled_at: float
    since: float


class Kept:
    """The idle connections of a process, those that wait longest first."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._idle: list[Idle] = []
        self._lock = threading.Lock()
        self._clock = clock

    def take(self, origin: Origin) -> Idle | None:
        """The one that came last, still open and without a byte that nobody asked for."""
        self._drop_old()
        while idle := self._pop(origin):
            if idle.connection.is_connected:
                return idle
            idle.connection.retire()
        return None

    def give(self, origin: Origin, connection: PlainConnection, *, dialled_at: float) -> None:
        """Keep it, in the place of the one that waits longest where there are too many."""
        now = self._clock()
        with self._lock:
            of_origin = [each for each in self._idle if each.origin == origin]
            crowd = of_origin if len(of_origin) >= MOST_OF_ORIGIN else self._idle[: len(self._idle) >= MOST]
            out = crowd[:1]
            for each in out:
                self._idle.remove(each)
            self._idle.append(Idle(origin=origin, connection=connection, dialled_at=dialled_at, since=now))
        _retire(out)
        self._drop_old()

    def close(self) -> None:
        with self._lock:
            out, self._idle = self._idle, []
        _retire(out)

    def _pop(self, origin: Origin) -> Idle | None:
        with self._lock:
            for place in range(len(self._idle) - 1, -1, -1):
                if self._idle[place].origin == origin:
                    return self._idle.pop(place)
        return None

    def _drop_old(self) -> None:
        now = self._clock()
        with self._lock:
            out = [
                each
                for each in self._idle
                if now - each.since > IDLE_SECONDS or now - each.dialled_at > LONGEST_SECONDS
            ]
            if out:
                self._idle = [each for each in self._idle if each not in out]
        _retire(out)


def _retire(out: Iterable[Idle]) -> None:
    for each in out:
        each.connection.retire()


kept = Kept()
