"""Remembers what a function says of objects that never change, such as the parts of a picture of the catalog."""

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from common.recent import Recent

Things = TypeVarTuple("Things")
Result = TypeVar("Result")

MOST = 1_000


def by_identity(function: Callable[[*Things], Result]) -> Callable[[*Things], Result]:
    """The same function; asked again about the very same objects, it gives the very same result. None may change.

    Objects are kept as long as they are known by their ids, so that no other ones can have those.
    """
    known: Recent[tuple[int, ...], tuple[tuple[*Things], Result]] = Recent(MOST)

    def remembered(*things: *Things) -> Result:
        key = tuple(map(id, things))
        found = known.get(key)
        if found is None:
            found = things, function(*things)
            known.put(key, found)
        return found[1]

    return remembered
