"""How long a connection may go on without getting anything done, on a clock of its own."""

import asyncio

from front.server.places import ConnectionLimits, Places
from tests.front.server.guests import StubGuest
from tests.front.virtual_time import seconds_of

LONG = 10_000


def places(**limits) -> Places:
    return Places(asyncio.get_running_loop(), ConnectionLimits(**limits))


def test_a_connection_without_a_request_ends_after_75_seconds():
    async def live():
        here, guest, later = places(), StubGuest(), StubGuest()
        here.idle(guest)
        await asyncio.sleep(20)
        here.idle(later)
        await asyncio.sleep(LONG)
        assert (guest.ended_at, later.ended_at) == (75, 95)

    seconds_of(live())


def test_half_a_head_ends_10_seconds_after_its_first_byte_however_it_drips():
    async def live():
        here, guest = places(), StubGuest()
        here.idle(guest)
        await asyncio.sleep(60)
        while guest.ended_at is None:
            here.sends_head(guest)
            await asyncio.sleep(1)
        assert guest.ended_at == 70

    seconds_of(live())


def test_the_next_half_of_a_head_does_not_count_as_idle_when_an_answer_ends():
    async def live():
        here, guest = places(), StubGuest()
        here.sends_head(guest)
        await asyncio.sleep(5)
        here.idle(guest)
        await asyncio.sleep(LONG)
        assert guest.ended_at == 10

    seconds_of(live())


def test_a_request_in_progress_never_ends_and_the_time_after_it_is_idle():
    async def live():
        here, guest = places(), StubGuest()
        here.idle(guest)
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
            here.idle(guest)
            await asyncio.sleep(0.001)
        await asyncio.sleep(LONG)
        ends = [guest.ended_at for guest in guests]
        assert ends == [round(75 + 0.001 * number, 3) for number in range(10_000)]

    seconds_of(live())
