"""Wake-ups: whoever waits for rows that others write is told when they are there, and need not ask all the time.

A wake-up says no more than that a look may be worth it. One may be lost, so everybody also looks unasked now and then.
Within a process it costs next to nothing. To other processes a thread sends it, after the commit: the first at once,
and while more come, many together a few times a second.
"""

import atexit
import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Literal

from django.db import transaction

from common import swallowed
from common.concurrency import wakeup_lines
from common.concurrency.wakeup_lines import LOST, WakeupLine

logger = logging.getLogger(__name__)

Topic = Literal["queued", "freed", "stopped", "callbacks", "events"]
"""A task may be claimed, one has ended, a worker has stopped, a delivery is due, an event was recorded."""
Ring = Callable[[], None]

# Between two messages to the other processes: doubled while more wake-ups come than are sent.
SHORTEST_REST = 0.002
LONGEST_REST = 0.05
AWAY_SECONDS = 1.0
END_SECONDS = 1.0  # a database that is away holds up nobody's end


def tell(*topics: Topic) -> None:
    """Wake who waits for them: when the open transaction is committed, or now where none is open."""
    transaction.on_commit(partial(post.tell, *topics), robust=True)


class Post:
    """The wake-ups of one process. Its thread, and its line to the other processes, exist from the first use on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rings: dict[str, tuple[Ring, ...]] = {}
        self.unsent: set[str] = set()  # topics that the other processes are to be told
        self._courier: Courier | None = None

    def tell(self, *topics: str) -> None:
        if self._rings:
            self.ring(topics)
        if not self.unsent.issuperset(topics):  # else they are sent later than now, and so after the commit
            with self._lock:
                self.unsent.update(topics)
                self._hurry()

    @contextmanager
    def listening(self, rings: Mapping[Topic, Ring]) -> Iterator[None]:
        """While the block lasts, each ring is called for its topic, also once whenever wake-ups may have been lost. It
        is called from any thread, perhaps without need, and must not wait."""
        with self._lock:
            for topic, ring in rings.items():
                self._rings[topic] = (*self._rings.get(topic, ()), ring)
            self._hurry()
        try:
            yield
        finally:
            with self._lock:
                for topic, ring in rings.items():
                    self._rings[topic] = tuple(each for each in self._rings[topic] if each is not ring)

    @property
    def is_listening(self) -> bool:
        return any(self._rings.values())

    def take(self) -> set[str]:
        """What is to be sent."""
        with self._lock:
            unsent, self.unsent = self.unsent, set()
            return unsent

    def ring(self, topics: Iterable[str] | None = None) -> None:
        """Wake the listeners of this process; those of all topics where None is given."""
        for topic in tuple(self._rings) if topics is None else topics:
            for ring in self._rings.get(topic, ()):
                ring()

    def close(self) -> None:
        """Send what is told, and end the thread and its line; what is told later begins anew."""
        with self._lock:
            courier, self._courier = self._courier, None
        if courier is not None:
            courier.end()

    def _hurry(self) -> None:
        """The lock is held."""
        if self._courier is None and wakeup_lines.has_others():
            self._courier = Courier(self)
            atexit.register(self.close)
        if self._courier is not None:
            self._courier.hurry()


class Courier:
    """The thread that sends what this process tells, and rings for what the others tell."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._over = threading.Event()
        self._ear, self._mouth = socket.socketpair()
        self._ear.setblocking(False)
        self._mouth.setblocking(False)
        self._rest = SHORTEST_REST
        self._sends_from = 0.0
        self._is_crowded = False
        self._thread = threading.Thread(target=self._run, name="wake-ups", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self.hurry()
        self._thread.join(END_SECONDS)

    def hurry(self) -> None:
        """Look at once what is to be done."""
        with suppress(OSError):  # full: it is awake; or over
            self._mouth.send(b".")

    def _run(self) -> None:
        with self._ear, self._mouth:
            self._work()

    def _work(self) -> None:
        is_away = False
        while not self._over.is_set():
            try:
                with closing(wakeup_lines.opened()) as line:
                    is_away = False
                    self._serve(line)
            except LOST as error:
                if not is_away:
                    logger.warning("other processes are not woken for a while: %s", error)
                is_away = True
                self._over.wait(AWAY_SECONDS)
            except Exception:  # of whom it rings for: the others are to be woken all the same
                swallowed.note("common.concurrency.wakeups")
                self._over.wait(AWAY_SECONDS)

    def _serve(self, line: WakeupLine) -> None:
        """Until the end. Raises what `LOST` names."""
        is_listening = False
        with selectors.DefaultSelector() as selector:
            selector.register(line, selectors.EVENT_READ)
            selector.register(self._ear, selectors.EVENT_READ)
            while not self._over.is_set():
                if not is_listening and self._post.is_listening:
                    line.listen()
                    is_listening = True
                    self._post.ring()  # what was told before went by unheard
                rest = self._send(line)
                if heard := line.heard():
                    self._post.ring(heard)
                selector.select(rest)
                with suppress(BlockingIOError):
                    self._ear.recv(64)  # before the next look: who hurries from here on wakes the round after it
        if self._post.unsent:
            line.send(self._post.take())

    def _send(self, line: WakeupLine) -> float | None:
        """Send what is told. Where the last message was a moment ago, it goes with what else comes in the seconds that
        are returned."""
        if not self._post.unsent:
            return None
        now = time.monotonic()
        if now < self._sends_from:
            self._is_crowded = True
            return self._sends_from - now
        self._rest = min(2 * self._rest, LONGEST_REST) if self._is_crowded else SHORTEST_REST
        self._is_crowded = False
        self._sends_from = now + self._rest
        line.send(self._post.take())
        return None


post = Post()
