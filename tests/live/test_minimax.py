"""MiniMax itself, with a key of one's own: the smallest paid job. MINIMAX_API_KEY."""

import os
import time

import pytest

from adapters.ark.videos import ArkContentTasks
from adapters.base import Accepted, Done, Pending
from tests.adapters.ark.test_minimax import BASE, OPTIONS, target
from tests.adapters.making import connection_to, video_request

KEY = os.environ.get("MINIMAX_API_KEY", "")
DEADLINE = 1800.0
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not KEY, reason="MINIMAX_API_KEY is not set"),
    pytest.mark.timeout(DEADLINE + 60),
]


def test_a_job_is_made_and_delivered() -> None:
    adapter = ArkContentTasks()
    connection = connection_to(BASE, credentials={"api_key": KEY}, total_timeout=120.0, options=OPTIONS)
    adapter.probe(connection)
    upstream = adapter.build(video_request(duration=4, resolution="768p"), target())
    accepted = adapter.submit(upstream, connection)
    assert isinstance(accepted, Accepted)
    end = time.monotonic() + DEADLINE
    state: object = Pending(poll_after=0)
    while isinstance(state, Pending) and time.monotonic() < end:
        time.sleep(accepted.poll_after)
        (state,) = adapter.poll([accepted.handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        assert b"ftyp" in next(chunks)[:64]
