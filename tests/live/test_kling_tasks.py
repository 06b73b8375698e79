"""Kling itself, with a key of one's own: the smallest paid video, found again by our own name. KLING_API_KEY;
KLING_BASE_URL and KLING_MODEL for other regions and models."""

import os
import time
import uuid

import pytest

from adapters.base import Accepted, Done, Pending, Target
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, video_request

KEY = os.environ.get("KLING_API_KEY", "")
BASE = os.environ.get("KLING_BASE_URL", "https://api-singapore.klingai.com")
MODEL = os.environ.get("KLING_MODEL", "kling-3.0")
DEADLINE = 900.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="KLING_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_video_is_made_found_and_delivered() -> None:
    adapter = ADAPTERS["kling_tasks"]
    target = Target(adapter="kling_tasks", base_url=BASE, upstream_model=MODEL)
    name = f"live-{uuid.uuid4()}"
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=120.0, reference=name)
    adapter.probe(connection)
    upstream = adapter.build(video_request(duration=3), target)
    accepted = adapter.submit(upstream, connection)
    assert isinstance(accepted, Accepted)
    assert adapter.find(upstream, connection) == accepted
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=0)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(accepted.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert b"ftyp" in next(chunks)[:64]
