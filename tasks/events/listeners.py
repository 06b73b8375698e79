"""An open stream, and the log of a key's latest events that its streams share. All of it runs on the event loop."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from tasks.events.reader import Event
from tasks.gate import Caller

KEPT_EVENTS = 256


async def set_within(event: asyncio.Event, *, seconds: float) -> None:
    """Returns when the event has been set, at the latest after so many seconds; clears it."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    event.clear()


class Listener:
    """One open stream: is woken when there may be news, and ended from outside by `end`.

    `read_mark` tells up to where the events are known.
    """

    def __init__(self, caller: Caller, log: "Log", read_mark: Callable[[], int | None]) -> None:
        self.caller = caller
        self.life = asyncio.timeout(None)
        self._log = log
        self._read_mark = read_mark
        self._news = asyncio.Event()
        self._is_placed = False
        self._is_over = False

    @property
    def mark(self) -> int | None:
        """Up to where the events are known; None until they have been read once since the stream was opened."""
        return self._read_mark() if self._is_placed else None

    def since(self, cursor: int) -> list[Event] | None:
        """The key's events after the cursor, oldest first; None where memory does not reach back that far."""
        return self._log.since(cursor)

    async def news(self, *, seconds: float) -> None:
        """Returns when there may be news, at the latest after so many seconds."""
        await set_within(self._news, seconds=seconds)

    def place(self) -> None:
        self._is_placed = True
        self.wake()

    def wake(self) -> None:
        self._news.set()

    def end(self) -> None:
        """Cut the stream, whatever it is waiting for: also a client that does not read."""
        if not self._is_over:
            self._is_over = True
            self.life.reschedule(0)

    def leave(self) -> None:
        self._is_over = True


class Log:
    """The latest events of one key, shared by its streams: each has a position in it, none a queue of its own."""

    def __init__(self, mark: int | None) -> None:
        self.begins_after = mark
        self.listeners: set[Listener] = set()
        self._events: deque[Event] = deque()

    def append(self, event: Event) -> None:
        self._events.append(event)
        if len(self._events) > KEPT_EVENTS:
            self.begins_after = self._events.popleft().id
        for listener in self.listeners:
            listener.wake()

    def since(self, cursor: int) -> list[Event] | None:
        if self.begins_after is None or cursor < self.begins_after:
            return None
        found: list[Event] = []
        for event in reversed(self._events):
            if event.id <= cursor:
                break
            found.append(event)
        return found[::-1]
