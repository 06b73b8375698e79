"""Remembers what a function says of objects that never change, such as the parts of a picture of the catalog."""

from collections.abc import Callable
from typing import TypeVar

from common.recent import Recent

Thing = TypeVar("Thing")
Result = TypeVar("Result")

MOST = 1_000


def by_identity(function: Callable[[Thing], Result]) -> Callable[[Thing], Result]:
    """The same function; asked again about the very same object, it gives the very same result. Neither may change.

    An object is kept as long as it is known by its id, so that no other one can have that.
    """
    known: Recent[int, tuple[Thing, Result]] = Recent(MOST)

    def remembered(thing: Thing) -> Result:
        found = known.get(id(thing))
        if found is None:
            found = thing, function(thing)
            known.put(id(thing), found)
        return found[1]

    return remembered
