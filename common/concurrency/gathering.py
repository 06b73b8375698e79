"""A batcher: items that are added while a batch is at work go together into the next batch.

No timer delays an item: one that is added while nothing is at work starts at once, alone. So batches are as large as
the load makes them, and one transaction serves each.
"""

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar, final

from common.concurrency import promises
from common.concurrency.sharing import FairQueue

Item = TypeVar("Item")
Result = TypeVar("Result")


@final
class Later:
    """Returned for an item that this batch could not take: the item is the first of the next batch."""


LATER: Final = Later()


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Item, Result]):
    item: Item
    payer: Hashable
    member: Hashable
    future: "Future[Result]" = field(default_factory=Future)


class GrowingGroup(list[Item]):
    """The items of a batch. Work that had to wait for a lock can add the items that came meanwhile."""

    def __init__(self, items: Iterable[Item], more: "Callable[[], list[Item]]") -> None:
        super().__init__(items)
        self._more = more

    def grow(self) -> None:
        """Add the items that wait, up to the largest batch."""
        self.extend(self._more())


class Gathering(Generic[Item, Result]):
    """Gives batches of at most `most` items to `work`, one batch at a time, on a thread that `start` runs.

    `work` returns one value for each item: its result, the exception that its caller gets, LATER, or another Gathering
    in which the item waits next. An exception that `work` raises goes to every caller of the batch. A batch of which
    all are LATER runs again at once, so `work` has to wait before it returns that. Payers take turns (`FairQueue`).
    """

    def __init__(
        self,
        work: Callable[[GrowingGroup[Item]], Sequence["Result | BaseException | Later | Gathering[Item, Result]"]],
        *,
        start: Callable[[Callable[[], None]], Any],
        most: int = 100,
    ) -> None:
        self._work = work
        self._start = start
        self._most = most
        self._lock = threading.Lock()
        self._waiting: FairQueue[_Entry[Item, Result]] = FairQueue()
        self._is_at_work = False

    def add(self, item: Item, *, payer: Hashable = None, member: Hashable = None) -> "Future[Result]":
        """Queue an item and return the future of its result. A cancelled item is skipped if its batch has not begun."""
        entry: _Entry[Item, Result] = _Entry(item, payer, member)
        self._line_up(entry)
        return entry.future

    @contextmanager
    def held(self) -> Iterator[None]:
        """Collect the items that are added during the block into one batch, and run it on this thread at the end of the
        block. Where a batch is at work already, they go into the next one."""
        with self._lock:
            is_ours, self._is_at_work = not self._is_at_work, True
        try:
            yield
        finally:
            if is_ours and self._run_group():
                self._hand_over()

    def _hand_over(self) -> None:
        """Start another thread for the items that came meanwhile."""
        with self._lock:
            self._is_at_work = begins = bool(self._waiting)
        if begins:
            self._begin()

    def _line_up(self, entry: _Entry[Item, Result]) -> None:
        with self._lock:
            self._waiting.put(entry, entry.payer, entry.member)
            begins, self._is_at_work = not self._is_at_work, True
        if begins:
            self._begin()

    def _begin(self) -> None:
        try:
            self._start(self._run)
        except BaseException as error:  # no thread is left, or the process ends
            self._refuse(error)

    def _refuse(self, error: BaseException) -> None:
        with self._lock:
            entries = [*self._waiting]
            self._waiting.clear()
            self._is_at_work = False
        for entry in entries:
            if entry.future.running() or entry.future.set_running_or_notify_cancel():
                entry.future.set_exception(error)

    def _run(self) -> None:
        while self._run_group():
            pass

    def _run_group(self) -> bool:
        """Run the next batch. False where no item waits: the work is over."""
        entries = self._next()
        if entries:
            group = GrowingGroup([entry.item for entry in entries], partial(self._more, entries))
            try:
                results: Sequence[Any] = self._work(group)
            except BaseException as error:
                results = [error] * len(entries)
            self._answer(entries, results)
        return bool(entries)

    def _next(self) -> list[_Entry[Item, Result]]:
        """Take the next batch; an empty one ends the work."""
        with self._lock:
            group = self._taken(self._most)
            self._is_at_work = bool(group)
        return group

    def _more(self, entries: list[_Entry[Item, Result]]) -> list[Item]:
        """Take more items for a batch that is at work."""
        with self._lock:
            later = self._taken(self._most - len(entries))
        entries += later
        return [entry.item for entry in later]

    def _taken(self, most: int) -> list[_Entry[Item, Result]]:
        """Take items in turn, and leave out those that were cancelled; the lock is held."""
        group: list[_Entry[Item, Result]] = []
        while self._waiting and len(group) < most:
            entry = self._waiting.take_next()
            if entry.future.running() or entry.future.set_running_or_notify_cancel():
                group.append(entry)
        return group

    def _answer(self, group: Sequence[_Entry[Item, Result]], results: Sequence[Any]) -> None:
        postponed = [entry for entry, result in zip(group, results, strict=True) if result is LATER]
        with self._lock:
            for entry in reversed(postponed):
                self._waiting.put_first(entry, entry.payer, entry.member)
        with promises.kept_together():
            for entry, result in zip(group, results, strict=True):
                if isinstance(result, BaseException):
                    entry.future.set_exception(result)
                elif isinstance(result, Gathering):
                    result._line_up(entry)
                elif result is not LATER:
                    entry.future.set_result(result)
