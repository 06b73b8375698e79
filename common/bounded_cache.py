"""Bounded memories of a process, for any number of threads: by keys, and by the identity of objects."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar, TypeVarTuple

Key = TypeVar("Key")
Value = TypeVar("Value")
Things = TypeVarTuple("Things")

MOST_BY_IDENTITY = 1_000


class BoundedCache(Generic[Key, Value]):
    """At most `most` values by their keys. The one that has not been put for longest makes room."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()


def by_identity(function: Callable[[*Things], Value]) -> Callable[[*Things], Value]:
    """Remember what a function says of objects that never change, such as the parts of a snapshot of the catalog: asked
    again about the very same objects, it gives the very same result.

    Objects are kept as long as they are known by their ids, so that no other ones can have those.
    """
    known: BoundedCache[tuple[int, ...], tuple[tuple[*Things], Value]] = BoundedCache(MOST_BY_IDENTITY)

    def remembered(*things: *Things) -> Value:
        key = tuple(map(id, things))
        found = known.get(key)
        if found is None:
            found = things, function(*things)
            known.put(key, found)
        return found[1]

    return remembered
