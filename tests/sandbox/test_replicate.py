"""Replicate over a socket: the template adapter against the sandbox, and how strict the sandbox is."""

import io
from collections.abc import Iterator
from typing import Any

import av
import pytest
import requests
from PIL import Image

from adapters.base import Connection, Done, ErrorKind, UpstreamError
from sandbox.server import Sandbox
from tests.adapters.making import image_request
from tests.adapters.templates import adapter, target_of
from tests.sandbox.queues import ended, files_of, reach, refusal, submitted

FLUX = "black-forest-labs/flux-3"
WAN = "wan-ai/wan-video"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(video_seconds=0.05) as running:
        yield running


@pytest.fixture
def images(sandbox: Sandbox) -> Connection:
    return reach(sandbox, "/replicate/v1", "replicate_image")


@pytest.fixture
def films(sandbox: Sandbox) -> Connection:
    return reach(sandbox, "/replicate/v1", "replicate_video")


def test_pictures_from_order_to_file(images: Connection) -> None:
    files = files_of(images, ended(images, submitted(images, FLUX, prompt="a fox", n=2, aspect_ratio="16:9")))
    assert [Image.open(io.BytesIO(file)).size for file in files] == [(1344, 768)] * 2


def test_a_film_from_order_to_file(films: Connection) -> None:
    done = ended(films, submitted(films, WAN, prompt="a film", duration=2))
    with av.open(io.BytesIO(files_of(films, done)[0])) as container:
        assert float(container.duration) / av.time_base == 2.0


def test_a_version_is_run_by_a_template_that_extends_one(sandbox: Sandbox) -> None:
    template = {"extends": "replicate_image", "submit": {"path": "/predictions", "body": {"version": "{model}"}}}
    connection = reach(sandbox, "/replicate/v1", template)  # type: ignore[arg-type]
    upstream = adapter.build(image_request(), target_of(template, model="5c7d5dc6dd8bf75c"))
    accepted: Any = adapter.submit(upstream, connection)
    assert isinstance(ended(connection, accepted.handle), Done)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("a [moderated] film", ErrorKind.CONTENT_POLICY),
        ("a [rate-limited] film", ErrorKind.RATE_LIMITED),
        ("a [status=500] film", ErrorKind.AMBIGUOUS),
        ("a [garbage] film", ErrorKind.AMBIGUOUS),
        ("a [reset] film", ErrorKind.AMBIGUOUS),
    ],
)
def test_a_submit_that_goes_wrong(films: Connection, prompt: str, kind: ErrorKind) -> None:
    assert refusal(films, WAN, prompt=prompt).kind is kind


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("a [fail] film", ErrorKind.PROVIDER_FAILED),
        ("a [moderated-output] film", ErrorKind.CONTENT_POLICY),
        ("a [poll:reset=1] film", ErrorKind.TRANSIENT),
        ("a [poll:status=404] film", ErrorKind.TRANSIENT),
    ],
)
def test_a_job_that_goes_wrong(films: Connection, prompt: str, kind: ErrorKind) -> None:
    state = ended(films, submitted(films, WAN, prompt=prompt))
    assert isinstance(state, UpstreamError)
    assert state.kind is kind


def test_a_job_is_cancelled_until_it_has_ended(films: Connection) -> None:
    running = submitted(films, WAN, prompt="now [queued=0][slow=60]")
    assert adapter.cancel(running, films) is True
    done = submitted(films, WAN, prompt="a quick one")
    assert isinstance(ended(films, done), Done)
    assert adapter.cancel(done, films) is False


def test_an_attached_job_and_one_that_is_not_there(films: Connection) -> None:
    target = target_of("replicate_video", "video", model=WAN)
    handle = submitted(films, WAN, prompt="attached")
    assert isinstance(ended(films, adapter.attach(handle["id"], target)), Done)
    state = ended(films, adapter.attach("nothing", target))
    assert isinstance(state, UpstreamError)
    assert state.kind is ErrorKind.EMPTY_RESULT


def test_keys_are_told_apart(sandbox: Sandbox, films: Connection) -> None:
    wrong, broke = (reach(sandbox, "/replicate/v1", "replicate_video", key) for key in ("wrong", "broke"))
    assert refusal(wrong, WAN).kind is ErrorKind.AUTH
    assert refusal(broke, WAN).kind is ErrorKind.QUOTA_EXHAUSTED
    assert refusal(films, "wan-video/no-such-model").kind is ErrorKind.INVALID_REQUEST
    adapter.probe(films)
    with pytest.raises(UpstreamError):
        adapter.probe(wrong)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"models/{FLUX}/predictions", {}),
        (f"models/{FLUX}/predictions", {"inptu": {"prompt": "x"}}),
        (f"models/{FLUX}/predictions", {"input": {"prompt": "x"}, "model": "y"}),
        (f"models/{FLUX}/predictions", {"input": {"prompt": "x", "duration": 5}}),
        (f"models/{WAN}/predictions", {"input": {"prompt": "x", "duration": "5"}}),
        ("predictions", {"input": {"prompt": "x"}}),
    ],
)
def test_the_sandbox_is_strict(sandbox: Sandbox, path: str, body: Any) -> None:
    bought = sandbox.audit()["jobs"]
    headers = {"Authorization": "Bearer any"}
    response = requests.post(f"{sandbox.url}/replicate/v1/{path}", json=body, headers=headers, timeout=5)
    assert (response.status_code, response.json()["status"]) == (422, 422)
    assert sandbox.audit()["jobs"] == bought
