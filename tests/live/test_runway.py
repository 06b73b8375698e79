"""Runway itself, with a key of one's own: the smallest paid task. RUNWAYML_API_SECRET, as the SDK calls it."""

import os
import time

import pytest

from adapters.base import Accepted, Done, Pending
from adapters.runway.videos import Runway
from tests.adapters.making import connection_to, video_request
from tests.adapters.runway.test_videos import BASE, target

KEY = os.environ.get("RUNWAYML_API_SECRET", "")
DEADLINE = 900.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="RUNWAYML_API_SECRET is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_task_is_made_and_delivered() -> None:
    adapter, where = Runway(), target(audio="never")
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=120.0)
    adapter.probe(connection)
    accepted = adapter.submit(adapter.build(video_request(duration=2), where), connection)
    assert isinstance(accepted, Accepted)
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=0)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(accepted.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert b"ftyp" in next(chunks)[:64]
