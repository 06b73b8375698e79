"""An open stream, and the log of a key's latest events that its streams share. All of it runs on the event loop."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from django.conf import settings

from tasks.events.reader import Event
from tasks.events.readmission import Admitted

KEPT_EVENTS = 256


async def done_within(awaitable: Awaitable[object], *, seconds: float) -> None:
    """Returns when it is done, at the latest after so many seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await awaitable


class Listener:
    """One open stream: is woken when there may be news, and ended from outside by `end`.

    `read_mark` tells up to where the events are known.
    """

    __slots__ = (
        "_has_news",
        "_is_over",
        "_is_placed",
        "_log",
        "_pulse",
        "_read_mark",
        "_waiter",
        "caller",
        "is_silent",
        "life",
        "proofs",
    )

    def __init__(self, guest: Admitted, log: "Log", pulse: "Pulse", read_mark: Callable[[], int | None]) -> None:
        self.caller, self.proofs = guest.caller, guest.proofs
        self.life = asyncio.timeout(None)
        self.is_silent = False
        self._log = log
        self._pulse = pulse
        self._read_mark = read_mark
        self._has_news = False
        self._waiter: asyncio.Future[None] | None = None
        self._is_placed = False
        self._is_over = False

    @property
    def mark(self) -> int | None:
        """Up to where the events are known; None until they have been read once since the stream was opened."""
        return self._read_mark() if self._is_placed else None

    def since(self, cursor: int) -> list[Event] | None:
        """The key's events after the cursor, oldest first; None where memory does not reach back that far."""
        return self._log.since(cursor)

    async def news(self, *, seconds: float | None = None) -> None:
        """Returns when there may be news, or a heartbeat is due; at the latest after so many seconds."""
        if not self._has_news:
            self._waiter = asyncio.get_running_loop().create_future()
            if seconds is None:
                await self._waiter
            else:
                await done_within(self._waiter, seconds=seconds)
        self._has_news = False

    def beats(self) -> None:
        """It has a heartbeat now; `is_silent` is set when the next one is due."""
        self.is_silent = False
        self._pulse.enter(self)

    def miss(self) -> None:
        """A heartbeat is due."""
        self.is_silent = True
        self.wake()

    def place(self) -> None:
        self._is_placed = True
        self.wake()

    def wake(self) -> None:
        self._has_news = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def end(self) -> None:
        """Cut the stream, whatever it is waiting for: also a client that does not read."""
        if not self._is_over:
            self._is_over = True
            self.life.reschedule(0)

    def leave(self) -> None:
        self._is_over = True
        self._pulse.leave(self)


class Pulse:
    """The heartbeats of all streams: no timer for each."""

    def __init__(self) -> None:
        self._due: OrderedDict[Listener, float] = OrderedDict()

    def enter(self, listener: Listener) -> None:
        """All wait equally long, so they are due in the order in which they came."""
        self._due[listener] = asyncio.get_running_loop().time() + settings.SSE_HEARTBEAT

    def leave(self, listener: Listener) -> None:
        self._due.pop(listener, None)

    def beat(self) -> None:
        """Wake those whose heartbeat is due."""
        now = asyncio.get_running_loop().time()
        while self._due and next(iter(self._due.values())) <= now:
            listener, _ = self._due.popitem(last=False)
            listener.miss()


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
