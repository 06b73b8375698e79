"""One paid film from Ark itself, where its key is in the environment."""

import os
import time

import pytest

from adapters.base import Accepted, Done, Pending, Target
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, video_request

KEY = os.environ.get("ARK_API_KEY", "")
BASE = os.environ.get("ARK_BASE_URL", "https://ark.cn-beijing.volces.com/api/v3")
MODEL = os.environ.get("ARK_VIDEO_MODEL", "doubao-seedance-1-0-pro-250528")
DEADLINE = 1800.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="ARK_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_job_is_made_and_delivered() -> None:
    adapter = ADAPTERS["ark_content_tasks"]
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=120.0)
    target = Target(adapter=adapter.protocol, base_url=BASE, upstream_model=MODEL, capabilities={"audio": "never"})
    adapter.probe(connection)
    accepted = adapter.submit(adapter.build(video_request(resolution="480p"), target), connection)
    assert isinstance(accepted, Accepted)
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=0)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(accepted.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert b"ftyp" in next(chunks)[:64]
