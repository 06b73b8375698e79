"""A batcher: items that are added while a batch is at work go together into the next batch.

No timer delays an item: one that is added while nothing is at work starts at once, alone. So batches are as large as
the load makes them, and one transaction serves each. What waits for an account that somebody else holds does so in a
line of that account (`AccountLines`), and holds up no other's.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar, final
from weakref import WeakValueDictionary

from common.concurrency import promises, threads
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

    more: Callable[[], list[Item]]

    def grow(self) -> None:
        """Add the items that wait, up to the largest batch."""
        self.extend(self.more())


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
        block. Where a batch is at work already, they go into the next one. Another thread takes what comes then."""
        with self._lock:
            is_ours, self._is_at_work = not self._is_at_work, True
        try:
            yield
        finally:
            if is_ours and self._run_group():
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
            entries = self._waiting.items_waiting()
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
        entries: list[_Entry[Item, Result]] = []
        group = GrowingGroup(self._taken(entries))
        if entries:
            group.more = partial(self._taken, entries)
            try:
                results: Sequence[Any] = self._work(group)
            except BaseException as error:
                results = [error] * len(entries)
            self._answer(entries, results)
        return bool(entries)

    def _taken(self, entries: list[_Entry[Item, Result]]) -> list[Item]:
        """Take what waits, in turn, into the batch of these entries; those that were cancelled are left out. The work
        is over where the batch stays empty."""
        before = len(entries)
        with self._lock:
            while self._waiting and len(entries) < self._most:
                entry = self._waiting.take_next()
                if entry.future.running() or entry.future.set_running_or_notify_cancel():
                    entries.append(entry)
            self._is_at_work = bool(entries)
        return [entry.item for entry in entries[before:]]

    def _answer(self, group: Sequence[_Entry[Item, Result]], results: Sequence[Any]) -> None:
        postponed: list[_Entry[Item, Result]] = []
        with promises.kept_together() if len(group) > 1 else nullcontext():
            for entry, result in zip(group, results, strict=True):
                if isinstance(result, BaseException):
                    entry.future.set_exception(result)
                elif isinstance(result, Gathering):
                    result._line_up(entry)
                elif result is LATER:
                    postponed.append(entry)
                else:
                    entry.future.set_result(result)
        for entry in reversed(postponed):
            with self._lock:
                self._waiting.put_first(entry, entry.payer, entry.member)


class AccountLines(WeakValueDictionary[int, Gathering[Item, Result]]):
    """By account, the line in which its items wait for it, on threads of the account's share. A line does `work` as a
    Gathering does, and lasts as long as it has items."""

    def __init__(self, work: Callable[[GrowingGroup[Item]], Sequence[Any]]) -> None:
        super().__init__()
        self._work = work
        self._lock = threading.Lock()

    def of(self, account_id: int) -> Gathering[Item, Result]:
        """The account's line."""
        with self._lock:
            line = self.get(account_id)
            if line is None:
                line = self[account_id] = self.new(account_id)
            return line

    def new(self, account_id: int) -> Gathering[Item, Result]:
        """One beside the account's line, for what goes together with nothing else."""
        return Gathering(self._work, start=partial(_start, account_id))


def _start(account_id: int, run: Callable[[], None]) -> None:
    token = threads.share.set(threads.of_account(account_id))
    try:
        threads.executor.submit(run)
    finally:
        threads.share.reset(token)
