"""Looks at the queue: which groups wait, and who gets the free seats."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalog.snapshot import Catalog
from tasks import failover
from tasks.claims import occupancy, waiting_groups
from tasks.claims.dealing import Seat, Waiting, deal
from tasks.failures import Failure

SPARE_GROUPS = 20  # beyond the seats, for those that a limit or a busy route holds back
WIDE_PART = 0.1  # of a worker's time, for wide looks that bring nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Groups of the queue, why those of some open routes are to fail, and who got the seats. With `is_enough` other
    groups would change nothing."""

    groups: Sequence[Waiting]
    ends: Mapping[int, Failure | None]
    dealt: list[Seat]
    is_enough: bool


class WideLooks:
    """When to look at all groups: where that brought no more seats, not again at once. It takes the longer the more
    keys wait, for a busy route perhaps, and so the rest is longer."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    def is_due(self) -> bool:
        return time.monotonic() >= self._rests_until

    def note(self, began: float, *, helped: bool) -> None:
        """A look that began then, by time.monotonic, is over."""
        now = time.monotonic()
        self._rests_until = now if helped else now + (now - began) / WIDE_PART


_wide_looks = WideLooks()


def take(catalog: Catalog, seats: int) -> Look:
    """All groups are looked at only where those whose turn it is have not taken a seat for each of so many keys."""
    first = _look(catalog, seats, most=seats + SPARE_GROUPS)
    if first.is_enough or not _wide_looks.is_due():
        return first
    began = time.monotonic()
    wide = _look(catalog, seats, most=None)
    _wide_looks.note(began, helped=len(wide.dealt) > len(first.dealt))
    return wide


def _look(catalog: Catalog, seats: int, *, most: int | None) -> Look:
    found = waiting_groups.read(catalog, most=most)
    groups = found.waiting
    taken = occupancy.read(catalog, {group.account_id for group in groups})
    sets = {group.open_routes_id for group in groups}
    ends = {routes: failover.lead(occupancy.ways(routes, catalog, taken)).failure for routes in sets}
    dealt = deal([group for group in groups if not ends[group.open_routes_id]], taken, seats=seats)
    is_enough = found.is_all or len({seat.group.key_id for seat in dealt}) == seats
    return Look(groups=groups, ends=ends, dealt=dealt, is_enough=is_enough)
