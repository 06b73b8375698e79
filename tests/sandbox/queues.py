"""The template adapter against the sandbox's fal and Replicate: what both tests share."""

import time
from ipaddress import ip_network
from typing import Any

import pytest

from adapters.base import Connection, Done, Pending, TaskRequest, UpstreamError
from sandbox.server import Sandbox
from tests.adapters.making import connection_to, image_request, video_request
from tests.adapters.templates import adapter, target_of

DEADLINE = 10.0


def reach(sandbox: Sandbox, path: str, template: str, key: str = "any", **changes: Any) -> Connection:
    return connection_to(
        sandbox.url + path,
        credentials={"api_key": key},
        options={"template": template, "poll_seconds": 0.2},
        allow_networks=(ip_network("127.0.0.0/8"),),
        **changes,
    )


def submitted(connection: Connection, model: str, **fields: Any) -> Any:
    """The handle of a job for a picture, or for a film by a model with video in its name."""
    request: TaskRequest = video_request(**fields) if "video" in model else image_request(**fields)
    target = target_of(connection.options["template"], request.modality, model=model)
    assert adapter.check(request, target) == []
    return adapter.submit(adapter.build(request, target), connection).handle  # type: ignore[union-attr]


def ended(connection: Connection, handle: Any) -> Done | UpstreamError:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        (state,) = adapter.poll([handle], connection)
        if not isinstance(state, Pending):
            return state
        time.sleep(0.02)
    raise AssertionError("the job does not end")


def files_of(connection: Connection, done: object) -> list[bytes]:
    """The bytes of every output."""
    assert isinstance(done, Done)
    found = []
    for output in done.outputs:
        with adapter.open_output(output, connection) as chunks:
            found.append(b"".join(chunks))
    return found


def refusal(connection: Connection, model: str, **fields: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        submitted(connection, model, **fields)
    return caught.value
