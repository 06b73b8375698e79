"""The round robin over keys, as a pure function."""

import random
from collections import Counter
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.entries import ChannelEntry, RouteEntry
from catalog.health.states import ActiveRest, ChannelState
from tasks.claims.dealing import Occupancy, Waiting, by_priority, deal

CHANNEL = {"name": "", "adapter": "", "base_url": "", "options": {}, "max_running": None, "enabled": True}
ROUTE = {"plan_id": 1, "model_id": 1, "upstream_model": "", "capabilities": {}, "extra_fields": (), "fixed": {}}
ROUTE |= {"cost": {}, "resubmit_ambiguous": False}


def route(number: int, *, channel: int = 1, priority: int = 10, weight: int = 1) -> RouteEntry:
    on = ChannelEntry(id=channel, **CHANNEL)
    return RouteEntry(id=number, channel=on, priority=priority, weight=weight, **ROUTE)


def group(key: int, **changes) -> Waiting:
    fields = {
        "key_id": key,
        "account_id": key,
        "open_routes_id": 1,
        "head": f"task_{key}",
        "key_limit": 100,
        "account_limit": 100,
        "routes": [route(1)],
    }
    return Waiting(**fields | changes)


def running(*, resting: Collection[int] = (), disabled: Collection[int] = (), **changes) -> Occupancy:
    """`resting` and `disabled` are channels."""
    states = {channel: ChannelState(credentials=(1,), seconds=60.0, cause="overloaded") for channel in resting}
    fields = {
        "states": states | {channel: ChannelState(has_disabled=True) for channel in disabled},
        "by_key": {},
        "by_account": {},
        "by_channel": {},
        "total": 0,
        "channel_limits": {},
        "total_limit": None,
    }
    return Occupancy(**fields | changes)


def keys(groups, seats: int, *, last_key: int = 0, now: Occupancy | None = None) -> list[int]:
    return [seat.group.key_id for seat in deal(groups, now or running(last_key=last_key), seats=seats)]


def test_keys_take_turns():
    assert keys([group(1), group(2), group(3)], 7) == [1, 2, 3, 1, 2, 3, 1]


def test_the_turn_goes_on_after_the_last_key():
    assert keys([group(1), group(2), group(3)], 4, last_key=2) == [3, 1, 2, 3]
    assert keys([group(1), group(3)], 2, last_key=2) == [3, 1]
    assert keys([group(1), group(2)], 2, last_key=9) == [1, 2]


def test_no_seats_and_no_groups_give_nothing():
    assert keys([group(1)], 0) == []
    assert keys([], 5) == []


def test_a_key_stops_at_its_limit_and_the_others_go_on():
    assert keys([group(1, key_limit=2), group(2)], 5) == [1, 2, 1, 2, 2]


def test_what_runs_already_counts_towards_the_limits():
    assert keys([group(1, key_limit=2)], 5, now=running(by_key={1: 1})) == [1]
    assert keys([group(1, account_limit=2)], 5, now=running(by_account={1: 2})) == []


def test_keys_of_an_account_share_its_limit():
    groups = [group(1, account_id=7, account_limit=3), group(2, account_id=7, account_limit=3), group(3)]
    assert Counter(keys(groups, 9)) == {1: 2, 2: 1, 3: 6}


def test_the_total_limit_stops_everything():
    assert keys([group(1), group(2)], 9, now=running(total=5, total_limit=8)) == [1, 2, 1]
    assert keys([group(1)], 9, now=running(total=9, total_limit=8)) == []
    assert keys([group(1)], 9, now=running(total_limit=0)) == []


def test_a_limit_of_zero_runs_nothing():
    assert keys([group(1, key_limit=0), group(2, account_limit=0)], 9) == []


def test_a_full_channel_does_not_block_the_other_tasks_of_the_key():
    full = group(1, open_routes_id=1, head="task_a")
    free = group(1, open_routes_id=2, head="task_b", routes=[route(2, channel=2)])
    seats = deal([full, free], running(by_channel={1: 3}, channel_limits={1: 3}), seats=3)
    assert [(seat.group.open_routes_id, seat.channel_id) for seat in seats] == [(2, 2)] * 3


def test_the_oldest_group_of_a_key_is_served_first():
    young = group(1, open_routes_id=1, head="task_b")
    old = group(1, open_routes_id=2, head="task_a")
    (seat,) = deal([young, old], running(), seats=1)
    assert seat.group is old


def test_a_full_channel_gives_way_to_the_next_route():
    routes = [route(1, channel=1, priority=1), route(2, channel=2, priority=2)]
    seats = deal([group(1, routes=routes)], running(channel_limits={1: 2}), seats=4)
    assert [(seat.route_id, seat.channel_id) for seat in seats] == [(1, 1), (1, 1), (2, 2), (2, 2)]


def test_a_channel_of_limit_zero_is_never_used():
    assert keys([group(1)], 3, now=running(channel_limits={1: 0})) == []


ROUTES = [route(n, channel=n, priority=n) for n in (1, 2, 3, 4)]


def test_channels_that_rest_or_are_disabled_give_way_to_the_next_route():
    now = running(resting=frozenset({1}), disabled=frozenset({2}))
    (seat,) = deal([group(1, routes=ROUTES)], now, seats=1)
    assert (seat.route_id, seat.channel_id) == (3, 3)


def test_a_seat_tells_which_routes_were_passed_over_and_why():
    now = running(resting=frozenset({1}), disabled=frozenset({2}), channel_limits={3: 1}, by_channel={3: 1})
    (seat,) = deal([group(1, routes=ROUTES)], now, seats=1)
    assert seat.passed == ((1, "cooling down"), (2, "disabled"), (3, "busy"))
    (first,) = deal([group(1, routes=ROUTES)], running(), seats=1)
    assert first.passed == ()


def test_a_disabled_channel_is_called_so_although_it_also_rests():
    now = running(resting=frozenset({1}), disabled=frozenset({1}))
    (seat,) = deal([group(1, routes=ROUTES)], now, seats=1)
    assert seat.passed == ((1, "disabled"),)


def test_what_is_paused_gives_way_to_the_next_route_and_a_paused_model_to_none():
    (seat,) = deal([group(1, routes=ROUTES)], running(paused=frozenset({1}), resting=frozenset({1})), seats=1)
    assert (seat.route_id, seat.passed) == (2, ((1, "paused"),))
    assert keys([group(1, routes=ROUTES)], 3, now=running(paused_models=frozenset({1}))) == []


def test_tasks_wait_for_a_channel_that_rests():
    assert keys([group(1)], 3, now=running(resting=frozenset({1}))) == []


def test_a_channel_that_rests_does_not_block_the_other_tasks_of_the_key():
    resting = group(1, open_routes_id=1, head="task_a")
    free = group(1, open_routes_id=2, head="task_b", routes=[route(2, channel=2)])
    seats = deal([resting, free], running(resting=frozenset({1})), seats=2)
    assert [seat.group.open_routes_id for seat in seats] == [2, 2]


def test_routes_are_tried_by_priority():
    routes = [route(n, priority=p) for n, p in ((1, 30), (2, -5), (3, 20))]
    assert [row.id for row in by_priority(routes)] == [2, 3, 1]


def test_equal_priorities_share_by_weight():
    random.seed(7)
    routes = [route(1, weight=1), route(2, weight=3)]
    firsts = Counter(by_priority(routes)[0].id for _ in range(4_000))
    assert firsts[2] == pytest.approx(3_000, abs=150)


def test_a_weight_of_zero_comes_last_of_its_priority():
    routes = [route(1, weight=0), route(2), route(3, priority=20)]
    assert all([row.id for row in by_priority(routes)] == [2, 1, 3] for _ in range(50))


LIMIT = st.integers(0, 4)
GROUPS = st.lists(
    st.builds(
        lambda key, route_set, channel, head: group(
            key,
            account_id=key % 2,
            open_routes_id=route_set,
            head=f"task_{head:02}",
            routes=[route(channel, channel=channel)],
        ),
        st.integers(1, 4),
        st.integers(1, 3),
        st.integers(1, 3),
        st.integers(0, 99),
    ),
    max_size=8,
    unique_by=lambda g: (g.key_id, g.open_routes_id),
)


CHANNELS = st.frozensets(st.integers(1, 3))


@given(GROUPS, st.integers(0, 30), st.integers(0, 5), LIMIT, LIMIT, LIMIT, st.none() | st.integers(0, 10), CHANNELS)
def test_no_limit_is_ever_passed(
    groups, seats, last_key, key_limit, account_limit, channel_limit, total_limit, resting
):
    limited = [
        group(
            g.key_id,
            account_id=g.account_id,
            open_routes_id=g.open_routes_id,
            head=g.head,
            routes=g.routes,
            key_limit=key_limit,
            account_limit=account_limit,
        )
        for g in groups
    ]
    now = running(
        channel_limits=dict.fromkeys((1, 2, 3), channel_limit),
        total_limit=total_limit,
        resting=resting,
        last_key=last_key,
    )
    dealt = deal(limited, now, seats=seats)
    assert len(dealt) <= min(seats, seats if total_limit is None else total_limit)
    for counted, limit in (
        (Counter(seat.group.key_id for seat in dealt), key_limit),
        (Counter(seat.group.account_id for seat in dealt), account_limit),
        (Counter(seat.channel_id for seat in dealt), channel_limit),
    ):
        assert max(counted.values(), default=0) <= limit
    assert not resting & {seat.channel_id for seat in dealt}


@given(GROUPS, st.integers(1, 30))
def test_unlimited_keys_differ_by_at_most_one_seat(groups, seats):
    counted = Counter(keys(groups, seats))
    assert sum(counted.values()) == (seats if groups else 0)
    assert not counted or max(counted.values()) - min(counted[g.key_id] for g in groups) <= 1


def test_one_seat_of_a_deal_tries_what_rested():
    rest = ActiveRest(id=7, credential_id=0, upstream_model="", account_id=0, cause="model", seconds=-1.0)
    now = running(states={1: ChannelState(credentials=(1,), rests=(rest,))})
    seats = deal([group(1), group(2)], now, seats=5)
    assert [seat.group.key_id for seat in seats] == [1]


def test_what_rests_for_one_account_is_free_for_others():
    rest = ActiveRest(id=7, credential_id=0, upstream_model="", account_id=1, cause="model", seconds=60.0)
    now = running(states={1: ChannelState(credentials=(1,), rests=(rest,))})
    assert keys([group(1), group(2)], 2, now=now) == [2, 2]
