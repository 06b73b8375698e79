"""Running an adapter's video job against the sandbox to its end."""

import io
import time

import av

from adapters.base import Connection, Done, Pending, UpstreamError
from adapters.shapes import Asynchronous

DEADLINE = 10.0


def ended(adapter: Asynchronous, handle, connection: Connection) -> Done | UpstreamError:
    """The state in which the job ends; faults of polls are passed over as the worker does."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        (state,) = adapter.poll([handle], connection)
        if not isinstance(state, Pending):
            return state
        time.sleep(0.02)
    raise AssertionError("the job does not end")


def film_of(adapter: Asynchronous, done: Done, connection: Connection) -> tuple[float, int, int, int]:
    """Seconds, width, height and sound tracks of the first output, downloaded."""
    with adapter.open_output(done.outputs[0], connection) as chunks:
        content = b"".join(chunks)
    with av.open(io.BytesIO(content)) as container:
        picture = container.streams.video[0]
        return container.duration / 1_000_000, picture.width, picture.height, len(container.streams.audio)
