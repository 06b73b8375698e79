"""Who gets the free seats: round robin over keys within every limit. Pure."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The queued tasks of one key that share their open routes; `head` is the oldest one's id."""

    key_id: int
    account_id: int
    route_set_id: int
    head: str
    key_limit: int
    account_limit: int
    routes: Sequence[Mapping[str, Any]]


@dataclass(slots=True, kw_only=True)
class Running:
    """Tasks that run now, counted from rows; a channel without a limit has no entry in `channel_limits`. `resting` and
    `disabled` are the channels that nothing may start on now."""

    by_key: dict[int, int]
    by_account: dict[int, int]
    by_channel: dict[int, int]
    total: int
    channel_limits: Mapping[int, int]
    total_limit: int | None
    resting: frozenset[int] = frozenset()
    disabled: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One seat for the next task of a group, on one route. `passed` are the routes that stood before it, each with the
    reason why it was passed over: "busy", "cooling down" or "disabled"."""

    group: Waiting
    route_id: int
    channel_id: int
    passed: tuple[tuple[int, str], ...] = ()


Shuffle = Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]]]


def by_priority(routes: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Lower priority number first; equal priorities share by weight (a weighted draw; weight 0 comes last)."""
    # Exponential waiting times with the weights as rates come in exactly the order of a weighted draw.
    return sorted(
        routes,
        key=lambda route: (
            route["priority"],
            route["weight"] == 0,
            random.expovariate(route["weight"]) if route["weight"] else 0.0,
        ),
    )


def deal(
    groups: Sequence[Waiting], running: Running, *, seats: int, last_key: int, shuffle: Shuffle = by_priority
) -> list[Seat]:
    """One seat a turn to each key after `last_key`, while key, account, channel and total have room.

    Groups of a key are served oldest head first; a group whose channels are all full does not block the others.
    """
    turns: dict[int, list[Waiting]] = {}
    for group in sorted(groups, key=lambda g: g.head):
        turns.setdefault(group.key_id, []).append(group)
    keys = sorted(turns, key=lambda key: (key <= last_key, key))
    dealt: list[Seat] = []
    while keys and len(dealt) < seats:
        for key in list(keys):
            seat = next(filter(None, (_seat(group, running, shuffle) for group in turns[key])), None)
            if seat is None:
                keys.remove(key)
                continue
            _take(seat, running)
            dealt.append(seat)
            if len(dealt) == seats:
                break
    return dealt


def _seat(group: Waiting, running: Running, shuffle: Shuffle) -> Seat | None:
    if running.total_limit is not None and running.total >= running.total_limit:
        return None
    if running.by_key.get(group.key_id, 0) >= group.key_limit:
        return None
    if running.by_account.get(group.account_id, 0) >= group.account_limit:
        return None
    passed: list[tuple[int, str]] = []
    for route in shuffle(group.routes):
        reason = obstacle(route["channel"], running)
        if not reason:
            return Seat(group=group, route_id=route["route"], channel_id=route["channel"], passed=tuple(passed))
        passed.append((route["route"], reason))
    return None


def obstacle(channel: int, running: Running) -> str:
    """Why nothing may start on this channel now; empty if it may."""
    if channel in running.disabled:
        return "disabled"
    if channel in running.resting:
        return "cooling down"
    limit = running.channel_limits.get(channel)
    return "" if limit is None or running.by_channel.get(channel, 0) < limit else "busy"


def is_unavailable(group: Waiting, running: Running) -> bool:
    """Whether every route of the group leads to a disabled channel: waiting would not help it."""
    return all(route["channel"] in running.disabled for route in group.routes)


def _take(seat: Seat, running: Running) -> None:
    for counts, place in (
        (running.by_key, seat.group.key_id),
        (running.by_account, seat.group.account_id),
        (running.by_channel, seat.channel_id),
    ):
        counts[place] = counts.get(place, 0) + 1
    running.total += 1
