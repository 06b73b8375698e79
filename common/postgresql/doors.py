"""How few connections a process with many threads makes do with, and who gets one first.

A pool serves in the order of asking, so behind a thousand threads that write at once everybody waits. Therefore each
thread belongs to one of four kinds. Three have doors of their own into the pool (`kind`): the heartbeat, and with it
the end of the lease; the lanes and groups, which do the work of many at once; and the crowd of all others. The pool is
as large as all doors together, so who has passed a door finds a connection in it. The fourth kind, claims, is
within the lanes: claims that wait for other workers' claims have one of the lanes' connections at most. Where such a
worker's machine is gone, the server learns it late, and the others go on meanwhile.

Nobody waits for ever. A thread has one connection at most, asks for it while it holds none, and with it waits for
nothing but the database: not for a provider, a file, or another thread (`common/database/database_retry.py`,
`release_connection`). Transactions lock in one order, so each statement ends, each connection comes back, and a door
opens to whoever has waited longest. No kind ever waits for another one's connections.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, Literal

from django.db import connection

Kind = Literal["heartbeat", "claims", "lanes", "crowd"]
WITHIN: Mapping[Kind, Kind] = {"claims": "lanes"}
"""They pass a door of their own before that of the others."""
kind: ContextVar[Kind] = ContextVar("kind", default="crowd")
"""Of this thread. A new one begins in the crowd."""


class Door:
    """Lets so many in, and then one for each that leaves, first come, first served."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: deque[threading.Lock] = deque()
        self._lock = threading.Lock()

    def enter(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        called.acquire()  # `leave` releases it: the place is handed over, and nobody comes in between

    def leave(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


built: dict[Kind, Door] = {}
"""Those of this process; none in a web process."""


def build(places: Mapping[Kind, int]) -> None:
    """From now on this process has so many connections at most for each kind. While nobody has one yet."""
    pool: Any = getattr(connection, "pool", None)  # SQLite has none, and connections that cost nobody anything
    if pool is not None:
        pool.resize(1, sum(places.values()))
        built.update({each: Door(number) for each, number in places.items()})
        built.update({each: Door(1) for each in WITHIN})


def enter() -> Callable[[], None]:
    """Wait until this thread may have a connection. What is returned is called when it has given it back."""
    own = kind.get()
    doors = [built[each] for each in (own, WITHIN.get(own)) if each in built]
    for door in doors:
        door.enter()
    return partial(leave, doors)


def leave(doors: Iterable[Door]) -> None:
    for door in doors:
        door.leave()
