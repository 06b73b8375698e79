"""Lines for accounts that somebody else holds: what waits for its account does so there, and holds up no other's.

Work that is gathered (`common/concurrency/gathering.py`) takes the accounts that are free together, and puts the others
into their lines, on threads of the account's share.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from common.concurrency import threads
from common.concurrency.gathering import Gathering, GrowingGroup

Item = TypeVar("Item")
Result = TypeVar("Result")


class AccountLines(Generic[Item, Result]):
    """A line for each account that needs one, which does `work` as a Gathering does. It lasts as long as it has
    items."""

    def __init__(self, work: Callable[[GrowingGroup[Item]], Sequence[Any]]) -> None:
        self._work = work
        self._lines: WeakValueDictionary[int, Gathering[Item, Result]] = WeakValueDictionary()
        self._lock = threading.Lock()

    def known(self, account_id: int) -> Gathering[Item, Result] | None:
        """The account's line, where it has one."""
        return self._lines.get(account_id)

    def of(self, account_id: int) -> Gathering[Item, Result]:
        """The account's line."""
        with self._lock:
            line = self._lines.get(account_id)
            if line is None:
                line = self._lines[account_id] = self.new(account_id)
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
