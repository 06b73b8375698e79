"""Turns: lines that are served one item at a time, each of them last again after its turn."""

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import TypeVar

Member = TypeVar("Member", bound=Hashable)
Item = TypeVar("Item")


def taken(lines: OrderedDict[Member, deque[Item]]) -> Item:
    """The first item of the first line, which then stands last; an empty line goes. At least one has an item."""
    member, line = lines.popitem(last=False)
    item = line.popleft()
    if line:
        lines[member] = line
    return item
