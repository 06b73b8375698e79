"""How payers share what a process has: what each of them holds of it, and whose turn is next."""

from collections import Counter, OrderedDict, deque
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Holdings(Counter[Hashable]):
    """Amounts by holder: threads, bytes, calls. A holder of nothing has no entry. The caller has a lock, if needed."""

    def fits(self, holder: Hashable, amount: int = 1, *, most: int, room: int | None = None) -> bool:
        """Whether the holder may have so much more: `most` for each, and `room` for all together."""
        return self[holder] + amount <= most and (room is None or self.total() + amount <= room)

    def take(self, holder: Hashable, amount: int = 1) -> None:
        self[holder] += amount

    def give_back(self, holder: Hashable, amount: int = 1) -> None:
        self[holder] -= amount
        if not self[holder]:
            del self[holder]


class FairQueue(Generic[Item]):
    """A queue in which payers take turns, and so do the members of each (strangers, say), so that one with many items
    does not hold up another with one. The caller has a lock."""

    def __init__(self) -> None:
        self._lines: OrderedDict[Hashable, OrderedDict[Hashable, deque[Item]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def __iter__(self) -> Iterator[Item]:
        return (item for members in self._lines.values() for line in members.values() for item in line)

    def payers(self) -> Iterator[Hashable]:
        """Those who wait, in the order of their turns."""
        return iter(self._lines)

    def first(self, payer: Hashable) -> Item:
        """The item that this payer gets next; it stays in the queue."""
        return next(iter(self._lines[payer].values()))[0]

    def put(self, item: Item, payer: Hashable = None, member: Hashable = None) -> None:
        self._lines.setdefault(payer, OrderedDict()).setdefault(member, deque()).append(item)

    def put_first(self, item: Item, payer: Hashable = None, member: Hashable = None) -> None:
        """Put it before all others: it is taken next."""
        members = self._lines.setdefault(payer, OrderedDict())
        members.setdefault(member, deque()).appendleft(item)
        members.move_to_end(member, last=False)
        self._lines.move_to_end(payer, last=False)

    def take(self, payer: Hashable) -> Item:
        """The first item of this payer's next member. Both then stand last."""
        members = self._lines.pop(payer)
        member, line = members.popitem(last=False)
        item = line.popleft()
        if line:
            members[member] = line
        if members:
            self._lines[payer] = members
        return item

    def take_next(self) -> Item | None:
        """The item of the payer whose turn it is; None where nobody waits."""
        return self.take(next(iter(self._lines))) if self._lines else None

    def clear(self) -> None:
        self._lines.clear()
