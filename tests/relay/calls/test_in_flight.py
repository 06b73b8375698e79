"""How many relayed calls a process has at once."""

import asyncio
import resource

import pytest

from common.errors import RateLimited
from relay.calls import in_flight
from relay.calls.in_flight import CHANNEL_PART, InFlight


@pytest.mark.parametrize(
    ("descriptors", "room"), [(256, 16), (1024, 128), (20_512, 4096), (resource.RLIM_INFINITY, 4096)]
)
def test_a_process_has_as_many_places_as_its_descriptors_allow(descriptors, room) -> None:
    assert in_flight.capacity_for(descriptors) == room


class Call:
    def stop(self) -> None:
        pass


def test_no_account_fills_a_process_and_no_channel_does() -> None:
    async def work() -> None:
        slots = InFlight(room=4)
        with slots.slot(Call(), 1), slots.slot(Call(), 1):
            with pytest.raises(RateLimited, match="of this account"), slots.slot(Call(), 1):
                pass
            with slots.slot(Call(), 2), slots.slot(Call(), 3), pytest.raises(RateLimited, match="in progress"):
                slots.slot(Call(), 4).__enter__()
        assert [slots.take("channel", CHANNEL_PART) for _ in range(4)] == [True, True, True, False]
        slots.give_back("channel")
        assert slots.take("channel", CHANNEL_PART)
        assert len(slots) == 0

    asyncio.run(work())
