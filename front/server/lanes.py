"""Members that may wait for so long: first in, first out, at constant cost for any number of them."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Member = TypeVar("Member")


class Lane(Generic[Member]):
    """Each member may stay for `seconds`; then it is out, and `overdue` is called with it.

    All stay equally long, so they are overdue in the order in which they came: one timer, for the first, will do.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, seconds: float, overdue: Callable[[Member], None]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._overdue = overdue
        self._entered: OrderedDict[Member, float] = OrderedDict()
        self._is_timed = False

    def __contains__(self, member: object) -> bool:
        return member in self._entered

    def __len__(self) -> int:
        return len(self._entered)

    def enter(self, member: Member) -> None:
        """At the end, also where it is in already."""
        self._entered.pop(member, None)
        self._entered[member] = self._loop.time()
        self._look_later()

    def leave(self, member: Member) -> None:
        """Nothing, where it is not in."""
        self._entered.pop(member, None)

    def first(self) -> Member | None:
        """The one that has been in for longest."""
        return next(iter(self._entered), None)

    def _look_later(self) -> None:
        if self._entered and not self._is_timed:
            self._is_timed = True
            self._loop.call_at(next(iter(self._entered.values())) + self._seconds, self._look)

    def _look(self) -> None:
        self._is_timed = False
        try:
            while self._entered and next(iter(self._entered.values())) + self._seconds <= self._loop.time():
                member, _ = self._entered.popitem(last=False)
                self._overdue(member)
        finally:
            self._look_later()
