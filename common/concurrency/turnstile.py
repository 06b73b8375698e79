"""Lets few threads at a time through work that is quick as long as few do it: a thousand at once would only wake each
other up, and each would hold its buffers meanwhile.

It is no lock. Who takes longer than a moment, because another side is slow, does not count any more and goes on. And
who has no time to wait in line goes in all the same.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turnstile:
    """At most `most` threads at a time, first come, first served; one that takes longer than `seconds` keeps nobody
    waiting."""

    def __init__(self, most: int, *, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._lock = threading.Lock()
        self._line: deque[threading.Event] = deque()
        self._ends: dict[threading.Event, float] = {}

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._line)

    @contextmanager
    def passage(self, *, patience: float) -> Iterator[None]:
        """Wait in line, but at most so many seconds, and be one of the few for as long as the block takes."""
        mine, out_at = threading.Event(), time.monotonic() + patience
        with self._lock:
            self._line.append(mine)
        while (wait := self._seconds_to_look_again(mine, out_at)) > 0.0:
            mine.wait(wait)
        try:
            yield
        finally:
            with self._lock:
                self._ends.pop(mine, None)
                if self._line:
                    self._line[0].set()

    def _seconds_to_look_again(self, mine: threading.Event, out_at: float) -> float:
        """0 where it is in; else how long it waits, unless it is woken before."""
        mine.clear()
        with self._lock:
            now = time.monotonic()
            self._ends = {each: end for each, end in self._ends.items() if end > now}
            is_first = self._line[0] is mine
            if now < out_at and not is_first:
                return out_at - now
            if now < out_at and len(self._ends) >= self._most:
                return min(out_at, *self._ends.values()) - now
            self._line.remove(mine)
            self._ends[mine] = now + self._seconds
            if self._line:
                self._line[0].set()
            return 0.0
