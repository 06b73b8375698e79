"""Shares out the seats of a worker among due deliveries: per account first, then per host, then per receiver. Pure.

A receiver is a `host:port`; the ports of one host share what the host may hold. A receiver that hangs holds a seat for
as long as an attempt may last, so nobody may hold them all. The last seats at each level are kept for those who have
none there: so the first attempt of an account, a host or a receiver finds one at once, whatever the others hold.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

ACCOUNT_SEATS = 48
HOST_SEATS = 36
RECEIVER_SEATS = 6
# Of a worker's seats for accounts without any, of an account's for hosts, of a host's for receivers.
KEPT_FOR_ACCOUNTS = 24
KEPT_FOR_HOSTS = 12
KEPT_FOR_RECEIVERS = 12

Receiver = tuple[int, str]
"""An account's id and `host:port`: what one account has at a receiver is counted apart from what others have there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A due delivery that no worker has; `due_at` is since when."""

    id: str
    account_id: int
    host: str
    is_retry: bool
    due_at: datetime

    @property
    def receiver(self) -> Receiver:
        return self.account_id, self.host


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Level:
    """What each group of receivers may hold, and how many seats of the level above are kept for groups with none."""

    group: Callable[[Receiver], Receiver | int]
    most: int
    kept: int


LEVELS = (
    Level(group=lambda receiver: receiver[0], most=ACCOUNT_SEATS, kept=KEPT_FOR_ACCOUNTS),
    Level(group=lambda receiver: (receiver[0], receiver[1].rpartition(":")[0]), most=HOST_SEATS, kept=KEPT_FOR_HOSTS),
    Level(group=lambda receiver: receiver, most=RECEIVER_SEATS, kept=KEPT_FOR_RECEIVERS),
)
Held = Mapping[Level, Counter[Receiver | int]]


def deal(waiting: Iterable[DueDelivery], *, seats: int, retry_seats: int, busy: Mapping[Receiver, int]) -> list[str]:
    """The ids that get one of the free `seats`, at most `retry_seats` of them no first attempts.

    `busy` tells how many attempts are in flight. Who has the fewest comes first; among equals the oldest.
    """
    held: Held = {level: Counter() for level in LEVELS}
    for receiver, count in busy.items():
        _hold(held, receiver, count)
    chosen: list[str] = []
    for row in _in_turn((row for row in waiting if not row.is_retry or retry_seats > 0), held):
        if not _has_room(row.receiver, held, free=seats - len(chosen)) or (row.is_retry and retry_seats <= 0):
            continue
        _hold(held, row.receiver, 1)
        retry_seats -= row.is_retry
        chosen.append(row.id)
    return chosen


def _hold(held: Held, receiver: Receiver, count: int) -> None:
    for level in LEVELS:
        held[level][level.group(receiver)] += count


def _has_room(receiver: Receiver, held: Held, *, free: int) -> bool:
    for level in LEVELS:
        mine = held[level][level.group(receiver)]
        if free <= (level.kept if mine else 0):
            return False
        free = level.most - mine
    return free > 0


def _in_turn(waiting: Iterable[DueDelivery], held: Held) -> list[DueDelivery]:
    """Each receiver's in the order of age, each host's receivers in turn, each account's hosts in turn, and so on."""
    ranked = sorted((0, row.due_at, row.id, row) for row in waiting)
    for level in reversed(LEVELS):
        line = Counter(held[level])
        lined: list[tuple[int, datetime, str, DueDelivery]] = []
        for _, due_at, row_id, row in ranked:
            group = level.group(row.receiver)
            if line[group] < level.most:
                lined.append((line[group], due_at, row_id, row))
                line[group] += 1
        ranked = sorted(lined)
    return [row for *_, row in ranked]
