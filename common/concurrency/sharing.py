"""How payers share what a process has: what each of them holds of it, and whose turn is next."""

from collections import Counter, OrderedDict, deque
from collections.abc import Hashable
from typing import TypeVar

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


class FairQueue(OrderedDict[Hashable, OrderedDict[Hashable, deque[Item]]]):
    """A queue in which payers take turns, and so do the members of each (strangers, say), so that one with many items
    does not hold up another with one. By payer, in the order of their turns, what waits by member. The caller has a
    lock."""

    def items_waiting(self) -> list[Item]:
        """All items, those of one payer together."""
        return [item for members in self.values() for line in members.values() for item in line]

    def first(self, payer: Hashable) -> Item:
        """The item that this payer gets next; it stays in the queue."""
        return next(iter(self[payer].values()))[0]

    def put(self, item: Item, payer: Hashable = None, member: Hashable = None) -> None:
        self.setdefault(payer, OrderedDict()).setdefault(member, deque()).append(item)

    def put_first(self, item: Item, payer: Hashable = None, member: Hashable = None) -> None:
        """Put it before all others: it is taken next."""
        members = self.setdefault(payer, OrderedDict())
        members.setdefault(member, deque()).appendleft(item)
        members.move_to_end(member, last=False)
        self.move_to_end(payer, last=False)

    def take(self, payer: Hashable) -> Item:
        """The first item of this payer's next member. Both then stand last."""
        members = self.pop(payer)
        member, line = members.popitem(last=False)
        item = line.popleft()
        if line:
            members[member] = line
        if members:
            self[payer] = members
        return item

    def take_next(self) -> Item:
        """The item of the payer whose turn it is; there is one."""
        return self.take(next(iter(self)))
