"""Step 14, in memory: one reader per web process follows the events and tells every open stream and wait of them.

It reads when it is woken (`common/concurrency/wakeups.py`): one small query, however many listen, and none while nobody
does. Everything here runs on the event loop; a listener costs neither a thread nor a database connection.
`tasks_api/stream.py` writes to the client.
"""

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from django.conf import settings
from django.db import Error as DatabaseError

from common.concurrency import threads, wakeups
from common.errors import StreamLimitExceeded
from common.process import shutdown
from tasks.events.listeners import Listener, Log, Pulse, done_within
from tasks.events.reader import PAGE, Event, EventReader, ended_among
from tasks.events.readmission import Admitted, Check
from tasks.models import ENDED
from tasks.origins import LISTED

STREAMS_PER_KEY = 5
SAFETY_SECONDS = 1.0  # between two reads that no wake-up has asked for
HELD_SECONDS = 0.03  # while a transaction is open that may have lower ids
LEAST_SECONDS = 0.01  # what comes meanwhile is read together
GUARD_SECONDS = 0.2
RECOVERY_SECONDS = 1.0
logger = logging.getLogger(__name__)


class Hub:
    """The streams and waits of this process. One instance, `hub`, is enough."""

    def __init__(self) -> None:
        self.mark: int | None = None
        self.logs: dict[int, Log] = {}
        self._pulse = Pulse()
        self._waits: dict[str, set[asyncio.Future[bool]]] = {}
        self._arrivals: set[Listener] = set()
        self._unchecked: set[str] = set()
        self._arrived = asyncio.Event()
        self._is_rung = False
        self._follower: asyncio.Task[None] | None = None
        self._guard: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listen(self, guest: Admitted) -> AsyncIterator[Listener]:
        """A stream's place; its block is left early, and quietly, when the listener is ended.

        Raises StreamLimitExceeded.
        """
        key_id = guest.caller.key_id
        log = self.logs.get(key_id) or Log(self.mark)
        if len(log.listeners) >= STREAMS_PER_KEY:
            raise StreamLimitExceeded(f"The API key has {STREAMS_PER_KEY} event streams open already.")
        listener = Listener(guest, log, self._pulse, lambda: self.mark)
        self.logs[key_id] = log
        log.listeners.add(listener)
        self._arrivals.add(listener)
        self._start()
        try:
            async with listener.life:
                yield listener
        except TimeoutError:
            if not listener.life.expired():
                raise
        finally:
            listener.leave()
            log.listeners.discard(listener)
            self._arrivals.discard(listener)
            if not log.listeners:
                del self.logs[key_id]

    @contextmanager
    def ended(self, task_id: str) -> Iterator[asyncio.Future[bool]]:
        """A future that becomes true when the task has ended, also before now; false when this process stops."""
        wait: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waits.setdefault(task_id, set()).add(wait)
        self._unchecked.add(task_id)
        self._start()
        try:
            yield wait
        finally:
            waits = self._waits.get(task_id, set())
            waits.discard(wait)
            if not waits:
                self._waits.pop(task_id, None)
                self._unchecked.discard(task_id)

    @property
    def is_idle(self) -> bool:
        return not self.logs and not self._waits

    def _start(self) -> None:
        """Both tasks end when nobody listens, or with their event loop."""
        loop = asyncio.get_running_loop()
        if self._follower is None or self._follower.done():
            self.mark, self._arrived, self._is_rung = None, asyncio.Event(), False
            self._follower = loop.create_task(self._follow(), context=contextvars.Context())
        if self._guard is None or self._guard.done():
            self._guard = loop.create_task(self._watch(), context=contextvars.Context())
        self._arrived.set()

    async def _watch(self) -> None:
        """Apart from the reading, which a faulty database may hold up: heartbeats, and a stopping process lets
        everybody go."""
        while not self.is_idle:
            if shutdown.is_stopping():
                self._let_go()
            self._pulse.beat()
            await asyncio.sleep(GUARD_SECONDS)

    async def _follow(self) -> None:
        try:
            with wakeups.post.listening({"events": self._alarm()}):
                await self._read_on(EventReader())
        finally:
            self._let_go()

    def _alarm(self) -> Callable[[], None]:
        """Makes the follower read, from any thread."""
        loop, arrived = asyncio.get_running_loop(), self._arrived

        def ring() -> None:
            if not self._is_rung:
                self._is_rung = True
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(arrived.set)

        return ring

    async def _read_on(self, reader: EventReader) -> None:
        loop = asyncio.get_running_loop()
        check_at = loop.time() + settings.SSE_HEARTBEAT
        while not self.is_idle:
            try:
                arrivals = frozenset(self._arrivals)
                told = await threads.call(reader.read)
                self._tell(told, reader.mark)
                self._place(arrivals)
                await self._check_waits(reader)
                if loop.time() >= check_at:
                    await self._check_guests()
                    check_at = loop.time() + settings.SSE_HEARTBEAT
            except DatabaseError as error:
                logger.warning("the events cannot be read: %s", error)
                await asyncio.sleep(RECOVERY_SECONDS)
            else:
                await self._pause(has_more=len(told) == PAGE, is_held=reader.is_held)

    async def _pause(self, *, has_more: bool, is_held: bool) -> None:
        if not has_more:
            await asyncio.sleep(LEAST_SECONDS)
            await done_within(self._arrived.wait(), seconds=HELD_SECONDS if is_held else SAFETY_SECONDS)
            self._arrived.clear()
            self._is_rung = False  # before the read, which sees all that was told of by now

    def _tell(self, events: Iterable[Event], mark: int | None) -> None:
        for event in events:
            if event.origin in LISTED and event.key_id in self.logs:
                self.logs[event.key_id].append(event)
        self._release((event.task_id for event in events if event.status in ENDED), has_ended=True)
        if self.mark is None and mark is not None:
            for log in self.logs.values():
                log.begins_after = mark
        self.mark = mark

    def _place(self, arrivals: frozenset[Listener]) -> None:
        """Those who came before the events were read start from there, with a snapshot that is up to date."""
        if self.mark is not None:
            self._arrivals -= arrivals
            for listener in arrivals:
                listener.place()

    async def _check_waits(self, reader: EventReader) -> None:
        """New waits, whose end may be past; and all of them while the events stand still at a gap."""
        asked = tuple(self._waits if reader.is_held else self._unchecked)
        if asked:
            self._release(await threads.call(ended_among, asked), has_ended=True)
            self._unchecked.difference_update(asked)

    async def _check_guests(self) -> None:
        """Streams that would not be let in any more end; what the client does next tells it why."""
        asked: dict[Check, set[int]] = {}
        for check, id_ in {proof for listener in self._listeners() for proof in listener.proofs}:
            asked.setdefault(check, set()).add(id_)
        for check, ids in asked.items():
            lost = {(check, id_) for id_ in ids - await threads.call(check, ids)}
            self._end(one for one in self._listeners() if not lost.isdisjoint(one.proofs))

    def _release(self, task_ids: Iterable[str], *, has_ended: bool) -> None:
        for task_id in task_ids:
            for wait in self._waits.pop(task_id, ()):
                if not wait.done():
                    wait.set_result(has_ended)

    def _listeners(self) -> list[Listener]:
        return [listener for log in self.logs.values() for listener in log.listeners]

    def _end(self, listeners: Iterable[Listener]) -> None:
        for listener in listeners:
            listener.end()

    def _let_go(self) -> None:
        self._release(tuple(self._waits), has_ended=False)
        self._end(self._listeners())


hub = Hub()
