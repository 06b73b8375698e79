"""Steps that many tasks take together, each in one transaction; one that cannot be taken keeps no other back."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Generic, TypeVar

from common.concurrency import halving
from common.concurrency.gathering import Gathering
from common.database.database_retry import insist, release_connection
from common.postgresql import doors

Item = TypeVar("Item")
Result = TypeVar("Result")

Step = Callable[[Sequence[Item]], Sequence[Result | Exception]]
"""Returns for each item its result, or why it goes no further. All of it may be repeated (`insist`)."""


def apart(step: Step[Item, Result], items: Sequence[Item]) -> list[Result | Exception]:
    """What the step makes of each item, once the database takes it. One that fails alone has its exception."""
    return halving.apart(partial(insist, step), items)


def onward(step: Step[Item, Result], found: Sequence[Item | Exception]) -> list[Result | Exception]:
    """The next step of those that have got so far; the others keep their exception."""
    results = iter(apart(step, [each for each in found if not isinstance(each, Exception)]))
    return [each if isinstance(each, Exception) else next(results) for each in found]


class Together(Generic[Item, Result]):
    """A step that many threads take together: what comes while a group is at work goes into the next one. The thread
    that `start` runs is the only one that needs a connection to the database, and gives it back after each group; the
    others wait without one, so `start` must not leave it undone."""

    def __init__(self, step: Step[Item, Result], *, start: Callable[[Callable[[], None]], object]) -> None:
        self._step = step
        self._gathering: Gathering[Item, Result] = Gathering(self._taken, start=start)

    def take(self, item: Item) -> Result:
        """Wait for this item's result. Raises what `step` met where it was taken alone."""
        return self.begin(item)()

    def begin(self, item: Item) -> Callable[[], Result]:
        """The same, for who has something else to do meanwhile: what is returned waits."""
        return partial(_result, self.promise(item))

    def promise(self, item: Item) -> "Future[Result]":
        """The same, for who does not wait: the group's thread keeps it, and must not be held up by who listens."""
        return self._gathering.add(item)

    def _taken(self, group: Sequence[Item]) -> Sequence[Result | Exception]:
        before = doors.kind.set("lanes")
        try:
            return apart(self._step, group)
        finally:
            release_connection()
            doors.kind.reset(before)


def _result(future: "Future[Result]") -> Result:
    release_connection()  # the group needs one
    return future.result()
