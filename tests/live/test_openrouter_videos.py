"""OpenRouter itself, with a key of one's own: the smallest paid video. OPENROUTER_API_KEY."""

import os
import time

import pytest

from adapters.base import Accepted, Done, Pending, Target
from adapters.openrouter.videos import OpenRouterVideos
from tests.adapters.making import connection_to, video_request

KEY = os.environ.get("OPENROUTER_API_KEY", "")
MODEL = os.environ.get("OPENROUTER_VIDEO_MODEL", "bytedance/seedance-1-5-pro")
BASE = "https://openrouter.ai/api/v1"
DEADLINE = 900.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="OPENROUTER_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_job_is_made_and_delivered() -> None:
    adapter = OpenRouterVideos()
    where = Target(adapter=adapter.protocol, base_url=BASE, upstream_model=MODEL)
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=120.0)
    adapter.probe(connection)
    accepted = adapter.submit(adapter.build(video_request(duration=4, resolution="480p"), where), connection)
    assert isinstance(accepted, Accepted)
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=0)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(accepted.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert b"ftyp" in next(chunks)[:64]
