"""Serves a job's file at a protocol's own path, which needs the key, unlike `/files/`."""

import asyncio

from sandbox import steering
from sandbox.jobs import ErrorFor, Job
from sandbox.state import State
from sandbox.steering import CALL_FAULTS, DOWNLOAD
from sandbox.wire import Response


async def content(state: State, job: Job, index: int, error_for: ErrorFor) -> Response:
    """Returns one file of an ended job, spoiled if its prompt says so. Raises IndexError if the job has no such
    file."""
    name = job.files[index]
    file = state.files[name]
    body = await asyncio.to_thread(file.media.render)
    word = state.turns.take(file.script, DOWNLOAD, name, CALL_FAULTS)
    return steering.struck(Response(body=body, content_type=file.media.content_type), word, error_for, share=0.5)
