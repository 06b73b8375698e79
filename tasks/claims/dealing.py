"""Step 10: deals the free seats, round robin over keys within every limit. No I/O; of equal routes it draws one."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from catalog.entries import RouteEntry
from catalog.health.states import UNTOUCHED, Availability, ChannelState
from tasks.failover import Obstacle


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The queued tasks of one key that share their open routes; `head` is the oldest one's id, and `routes` are those
    that the catalog still has."""

    key_id: int
    account_id: int
    open_routes_id: int
    head: str
    key_limit: int
    account_limit: int
    routes: Sequence[RouteEntry]


@dataclass(slots=True, kw_only=True)
class Occupancy:
    """Tasks that run now, counted from rows; a channel without a limit has no entry in `channel_limits`. `states` say
    what of the channels rests or is disabled; `tried` are the rests that one of the seats dealt is to try. On channels
    that are `paused` nothing may start, nor for `paused_models`; and `last_key` got the last seat of the claim before.
    """

    by_key: dict[int, int]
    by_account: dict[int, int]
    by_channel: dict[int, int]
    total: int
    channel_limits: dict[int, int]
    total_limit: int | None
    states: Mapping[int, ChannelState] = field(default_factory=dict)
    tried: set[int] = field(default_factory=set)
    paused: frozenset[int] = frozenset()
    paused_models: frozenset[int] = frozenset()
    last_key: int = 0

    def state_of(self, route: RouteEntry) -> ChannelState:
        return self.states.get(route.channel.id, UNTOUCHED)

    def available(self, route: RouteEntry, account_id: int) -> Availability:
        """What of the route's channel a task of this account may use."""
        return self.state_of(route).judge(route.upstream_model, account_id, taken=self.tried)

    def obstacle(self, route: RouteEntry, account_id: int) -> Obstacle:
        """Why nothing may start on this route now for this account (0: for any); empty if it may. What is paused waits,
        also where it is disabled."""
        channel = route.channel.id
        if channel in self.paused or route.model_id in self.paused_models:
            return "paused"
        if found := self.available(route, account_id).obstacle:
            return found
        limit = self.channel_limits.get(channel)
        return "" if limit is None or self.by_channel.get(channel, 0) < limit else "busy"

    def has_room(self, group: Waiting) -> bool:
        """Whether one more task of the group may run, if a channel takes it."""
        return (
            (self.total_limit is None or self.total < self.total_limit)
            and self.by_key.get(group.key_id, 0) < group.key_limit
            and self.by_account.get(group.account_id, 0) < group.account_limit
        )

    def take(self, group: Waiting, route: RouteEntry) -> None:
        """Count one more task of the group on this route. What it tries, nobody else of this deal does."""
        for counts, place in (
            (self.by_key, group.key_id),
            (self.by_account, group.account_id),
            (self.by_channel, route.channel.id),
        ):
            counts[place] = counts.get(place, 0) + 1
        self.total += 1
        if self.state_of(route).rests:
            found = self.available(route, group.account_id)
            self.tried.update(*map(found.tried_with, found.credentials))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One seat for the next task of a group, on one route. `passed` are the routes that were drawn before it, each with
    the reason why it was passed over."""

    group: Waiting
    route_id: int
    channel_id: int
    passed: tuple[tuple[int, Obstacle], ...] = ()


def by_priority(routes: Sequence[RouteEntry]) -> Sequence[RouteEntry]:
    """Lower priority number first; equal priorities share by weight (a weighted draw; weight 0 comes last)."""
    # Exponential waiting times with the weights as rates come in exactly the order of a weighted draw.
    return sorted(
        routes,
        key=lambda route: (
            route.priority,
            route.weight == 0,
            random.expovariate(route.weight) if route.weight else 0.0,
        ),
    )


def deal(groups: Sequence[Waiting], occupancy: Occupancy, *, seats: int) -> list[Seat]:
    """One seat a turn to each key after the last one, while key, account, channel and total have room; `occupancy`
    counts them.

    Groups of a key are served oldest head first; a group whose channels are all full does not block the others.
    """
    turns: dict[int, list[Waiting]] = {}
    for group in sorted(groups, key=lambda g: g.head):
        turns.setdefault(group.key_id, []).append(group)
    keys = sorted(turns, key=lambda key: (key <= occupancy.last_key, key))
    dealt: list[Seat] = []
    while keys and len(dealt) < seats:
        for key in list(keys):
            seat = next(filter(None, (_seat(group, occupancy) for group in turns[key])), None)
            if seat is None:
                keys.remove(key)
                continue
            dealt.append(seat)
            if len(dealt) == seats:
                break
    return dealt


def _seat(group: Waiting, occupancy: Occupancy) -> Seat | None:
    """The seat that the group gets, which is counted; None where there is none for it."""
    if not occupancy.has_room(group):
        return None
    passed: list[tuple[int, Obstacle]] = []
    for route in by_priority(group.routes):
        obstacle = occupancy.obstacle(route, group.account_id)
        if not obstacle:
            occupancy.take(group, route)
            return Seat(group=group, route_id=route.id, channel_id=route.channel.id, passed=tuple(passed))
        passed.append((route.id, obstacle))
    return None
