"""When the calls that this process follows are polled next, in memory: a poll that finds nothing new writes nothing.

The rows say which calls are followed, and before which moment each is not polled (`tasks/due_calls.py`).
"""

import heapq
import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tasks.due_calls import Followed

CROWD = 100
CROWD_SECONDS = 0.1
"""So many calls that are due when they are found, such as those of a dead worker, begin within so many seconds."""


@dataclass(slots=True)
class Entry:
    """`due_at` is a moment of the clock; of a call in hand, the one at which its row wants the next poll."""

    due_at: float
    stamp: Any
    is_in_hand: bool = False


class Schedule:
    """The calls by id. A few hundred bytes each."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries: dict[int, Entry] = {}
        self._heap: list[tuple[float, int]] = []  # what its entry does not say any more is passed over
        self._lock = threading.Lock()
        self._clock = clock

    @property
    def is_anything_in_hand(self) -> bool:
        with self._lock:
            return any(entry.is_in_hand for entry in self._entries.values())

    def learn(self, rows: Iterable[Followed], *, are_all: bool) -> None:
        """Take on what is new, hasten what somebody else has moved, and forget what is gone where these are all."""
        now, crowd, found = self._clock(), 0, set()
        with self._lock:
            for row in rows:
                found.add(row.id)
                entry, due_at = self._entries.get(row.id), now + max(0.0, row.wait_seconds)
                if entry is None:
                    if row.wait_seconds <= 0:
                        due_at, crowd = now + crowd // CROWD * CROWD_SECONDS, crowd + 1
                    self._entries[row.id] = Entry(due_at, row.stamp)
                    heapq.heappush(self._heap, (due_at, row.id))
                elif entry.stamp != row.stamp:
                    entry.stamp = row.stamp
                    self._hasten(row.id, entry, due_at)
            if are_all:
                for gone in [each for each in self._entries.keys() - found if not self._entries[each].is_in_hand]:
                    del self._entries[gone]

    def take(self, most: int) -> list[int]:
        """The calls that are due, at most so many: in hand from now on, until they are put back or forgotten."""
        now = self._clock()
        taken: list[int] = []
        with self._lock:
            while self._heap and self._heap[0][0] <= now and len(taken) < most:
                due_at, call_id = heapq.heappop(self._heap)
                entry = self._entries.get(call_id)
                if entry is not None and entry.due_at == due_at and not entry.is_in_hand:
                    entry.is_in_hand, entry.due_at = True, math.inf
                    taken.append(call_id)
        return taken

    def put(self, call_id: int, seconds: float, *, grid: float = 0.0) -> None:
        """Out of hand, and due again in so many seconds, or on the next line of a grid of so many. Nothing for one that
        is not known here."""
        due_at = self._clock() + seconds
        if grid:
            due_at = math.ceil(due_at / grid) * grid
        with self._lock:
            if entry := self._entries.get(call_id):
                entry.is_in_hand, entry.due_at = False, min(due_at, entry.due_at)
                heapq.heappush(self._heap, (entry.due_at, call_id))

    def forget(self, call_ids: Iterable[int]) -> None:
        with self._lock:
            for call_id in call_ids:
                del self._entries[call_id]

    def _hasten(self, call_id: int, entry: Entry, due_at: float) -> None:
        if due_at < entry.due_at:
            entry.due_at = due_at
            if not entry.is_in_hand:
                heapq.heappush(self._heap, (due_at, call_id))
