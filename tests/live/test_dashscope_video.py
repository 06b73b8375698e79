"""Model Studio itself, with a key of one's own: the smallest paid video. DASHSCOPE_API_KEY, as the SDK calls it;
DASHSCOPE_BASE_URL and DASHSCOPE_VIDEO_MODEL for other regions and models."""

import os
import time

import pytest

from adapters.base import Accepted, Done, Pending, Target
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, video_request

KEY = os.environ.get("DASHSCOPE_API_KEY", "")
BASE = os.environ.get("DASHSCOPE_BASE_URL", "https://dashscope-intl.aliyuncs.com/api/v1")
MODEL = os.environ.get("DASHSCOPE_VIDEO_MODEL", "wan2.7-t2v")
DEADLINE = 900.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="DASHSCOPE_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_video_is_made_and_delivered() -> None:
    adapter = ADAPTERS["dashscope_video"]
    target = Target(adapter="dashscope_video", base_url=BASE, upstream_model=MODEL, capabilities={"audio": "always"})
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=120.0)
    adapter.probe(connection)
    accepted = adapter.submit(adapter.build(video_request(duration=2), target), connection)
    assert isinstance(accepted, Accepted)
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=0)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(accepted.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert b"ftyp" in next(chunks)[:64]
