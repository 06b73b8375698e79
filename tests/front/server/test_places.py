"""How many connections there may be, and how long each may go on without getting anything done, on its own clock."""

import asyncio

from front.server.places import MOST_FAREWELLS, ConnectionLimits, Places
from tests.front.server.guests import StubGuest
from tests.front.virtual_time import seconds_of

LONG = 10_000


def places(room: int = 10_000) -> Places:
    return Places(asyncio.get_running_loop(), ConnectionLimits(room=room))


def test_a_connection_without_a_request_ends_after_75_seconds():
    async def live():
        here, guest, later = places(), StubGuest(), StubGuest()
        here.admit(guest)
        await asyncio.sleep(20)
        here.admit(later)
        await asyncio.sleep(LONG)
        assert (guest.ended_at, later.ended_at) == (75, 95)

    seconds_of(live())


def test_half_a_head_ends_10_seconds_after_its_first_byte_however_it_drips():
    async def live():
        here, guest = places(), StubGuest()
        here.admit(guest)
        await asyncio.sleep(60)
        while guest.ended_at is None:
            here.sends_head(guest)
            await asyncio.sleep(1)
        assert guest.ended_at == 70

    seconds_of(live())


def test_the_next_half_of_a_head_does_not_count_as_idle_when_an_answer_ends():
    async def live():
        here, guest = places(), StubGuest()
        here.admit(guest)
        here.sends_head(guest)
        await asyncio.sleep(5)
        here.idle(guest)
        await asyncio.sleep(LONG)
        assert guest.ended_at == 10

    seconds_of(live())


def test_a_request_in_progress_never_ends_and_the_time_after_it_is_idle():
    async def live():
        here, guest = places(), StubGuest()
        here.admit(guest)
        here.sends_head(guest)
        here.busy(guest)
        await asyncio.sleep(LONG)
        assert guest.ended_at is None
        here.idle(guest)
        await asyncio.sleep(LONG)
        assert guest.ended_at == LONG + 75

    seconds_of(live())


def test_a_client_that_takes_nothing_of_its_answer_for_ten_minutes_is_cut_off():
    async def live():
        here, guest, slow = places(), StubGuest(unsent=500), StubGuest(unsent=500)
        here.stalls(guest)
        here.stalls(slow)
        for _ in range(4):
            await asyncio.sleep(500)
            slow.left -= 100
        assert (guest.ended_at, slow.ended_at) == (600, None)
        here.flows(slow)
        await asyncio.sleep(LONG)
        assert slow.ended_at is None

    seconds_of(live())


def test_a_connection_that_is_gone_is_left_alone():
    async def live():
        here, guests = places(), [StubGuest() for _ in range(3)]
        here.idle(guests[0])
        here.sends_head(guests[1])
        here.stalls(guests[2])
        for guest in guests:
            here.gone(guest)
        await asyncio.sleep(LONG)
        assert [guest.ended_at for guest in guests] == [None] * 3

    seconds_of(live())


def test_ten_thousand_connections_end_each_in_its_own_time():
    async def live():
        here, guests = places(), [StubGuest() for _ in range(10_000)]
        for guest in guests:
            here.admit(guest)
            await asyncio.sleep(0.001)
        await asyncio.sleep(LONG)
        ends = [guest.ended_at for guest in guests]
        assert ends == [round(75 + 0.001 * number, 3) for number in range(10_000)]

    seconds_of(live())


def hung_up(guests: list[StubGuest]) -> list[str]:
    return [guest.name for guest in guests if guest.ended_at is not None]


def test_when_full_the_oldest_head_gives_way_then_the_longest_idle_and_never_a_request():
    async def live():
        here = places(room=5)
        guests = [StubGuest(name) for name in ("busy", "idle", "head", "later head", "answered")]
        assert all(map(here.admit, guests))
        busy, _, head, later_head, answered = guests
        here.busy(busy)
        here.sends_head(head)
        here.sends_head(later_head)
        here.busy(answered)
        here.idle(answered)
        order = []
        for _ in range(4):
            new = StubGuest("new")
            assert here.admit(new)
            here.busy(new)
            order += [name for name in hung_up(guests) if name not in order]
        assert order == ["head", "later head", "idle", "answered"]
        assert not here.admit(StubGuest("one too many"))
        assert busy.ended_at is None

    seconds_of(live())


def test_who_is_gone_has_no_place_to_give_way_with():
    async def live():
        here, gone, idle, busy = places(room=1), StubGuest(), StubGuest(), StubGuest()
        here.admit(gone)
        here.gone(gone)
        here.sends_head(gone)  # what had waited behind its last request
        here.idle(idle)
        assert here.admit(busy)
        here.busy(busy)
        assert not here.admit(StubGuest())
        assert (gone.ended_at, idle.ended_at) == (None, None)

    seconds_of(live())


def test_a_place_is_free_again_when_its_connection_is_gone():
    async def live():
        here, guest, other = places(room=1), StubGuest(), StubGuest()
        here.admit(guest)
        here.busy(guest)
        assert not here.admit(other)
        here.gone(guest)
        assert here.admit(other)

    seconds_of(live())


def test_who_parts_takes_no_place_and_a_crowd_of_them_is_cut_short():
    async def live():
        here = places(room=1)
        crowd = [StubGuest(str(number)) for number in range(MOST_FAREWELLS + 2)]
        for farewell in crowd:
            here.parts(farewell)
        assert hung_up(crowd) == ["0", "1"]
        assert here.admit(StubGuest())
        await asyncio.sleep(LONG)
        assert {farewell.ended_at for farewell in crowd[2:]} == {2.0}

    seconds_of(live())
