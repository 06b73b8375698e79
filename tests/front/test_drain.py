"""What is read of a body that is refused already; and for how long of any."""

import asyncio

import pytest

from common.http import front_body
from tests.front.virtual_time import seconds_of
from tests.scopes import scope

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


def test_an_upload_has_ten_minutes_from_its_first_piece_on():
    async def drip():
        await asyncio.sleep(20)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def nobody():
        return None

    async def upload():
        with pytest.raises(front_body.Incomplete):
            await front_body.read(scope("POST", "/"), drip, limit=10**9, payer="strangers", opened_for=nobody)

    assert seconds_of(upload()) == 620.0
