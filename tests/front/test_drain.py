"""What is read of a body that is refused already."""

import asyncio

from common import front_body
from tests.front.virtual_time import seconds_of

CHUNK = 64 * 1024


def test_a_refused_body_that_never_ends_is_read_for_a_mebibyte():
    taken = []

    async def receive():
        taken.append(CHUNK)
        return {"type": "http.request", "body": bytes(CHUNK), "more_body": True}

    asyncio.run(front_body.drain(receive))
    assert sum(taken) == 1024 * 1024


def test_a_refused_body_that_drips_or_stops_is_read_for_two_seconds():
    async def drip():
        await asyncio.sleep(0.3)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def stop():
        await asyncio.sleep(3600)

    assert seconds_of(front_body.drain(drip)) == seconds_of(front_body.drain(stop)) == 2.0


def test_a_refused_body_that_ends_is_read_to_its_end():
    messages = [
        {"type": "http.request", "body": b"x", "more_body": True},
        {"type": "http.request", "body": b"", "more_body": False},
    ]

    async def receive():
        return messages.pop(0)

    asyncio.run(front_body.drain(receive))
    assert messages == []
