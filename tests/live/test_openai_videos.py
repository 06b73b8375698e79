"""A server of the OpenAI Videos protocol of one's own choice, for OpenAI's has ended: the smallest paid video.

OPENAI_VIDEOS_API_KEY, OPENAI_VIDEOS_BASE_URL and OPENAI_VIDEOS_MODEL; OPENAI_VIDEOS_DIALECT where it has one.
"""

import os
import time

import pytest

from adapters.base import Accepted, Done, Pending, Target
from adapters.openai.videos import OpenAIVideos
from tests.adapters.making import connection_to, video_request

KEY = os.environ.get("OPENAI_VIDEOS_API_KEY", "")
BASE = os.environ.get("OPENAI_VIDEOS_BASE_URL", "")
MODEL = os.environ.get("OPENAI_VIDEOS_MODEL", "")
DIALECT = os.environ.get("OPENAI_VIDEOS_DIALECT", "openai")
DEADLINE = 900.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not (KEY and BASE and MODEL), reason="OPENAI_VIDEOS_API_KEY, _BASE_URL or _MODEL is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_job_is_made_and_delivered() -> None:
    adapter = OpenAIVideos()
    where = Target(adapter=adapter.protocol, base_url=BASE, upstream_model=MODEL, options={"dialect": DIALECT})
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=120.0)
    adapter.probe(connection)
    accepted = adapter.submit(adapter.build(video_request(duration=4), where), connection)
    assert isinstance(accepted, Accepted)
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=accepted.poll_after)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(state.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert b"ftyp" in next(chunks)[:64]
