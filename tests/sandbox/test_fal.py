"""fal's queue over a socket: the template adapter against the sandbox, and how strict the sandbox is."""

import io
from collections.abc import Iterator
from typing import Any

import av
import pytest
import requests
from PIL import Image

from adapters.base import Connection, Done, ErrorKind, Pending, UpstreamError
from sandbox.server import Sandbox
from tests.adapters.templates import adapter, target_of
from tests.sandbox.queues import ended, files_of, reach, refusal, submitted

FLUX = "fal-ai/flux/dev"
KLING = "fal-ai/kling-video/v3/text-to-video"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(video_seconds=0.05) as running:
        yield running


@pytest.fixture
def images(sandbox: Sandbox) -> Connection:
    return reach(sandbox, "/fal", "fal_image")


@pytest.fixture
def films(sandbox: Sandbox) -> Connection:
    return reach(sandbox, "/fal", "fal_video")


def post(sandbox: Sandbox, model: str, body: Any, key: str = "Key any") -> requests.Response:
    return requests.post(f"{sandbox.url}/fal/{model}", json=body, headers={"Authorization": key}, timeout=5)


def test_pictures_from_order_to_file(images: Connection) -> None:
    files = files_of(images, ended(images, submitted(images, FLUX, prompt="two foxes", n=2)))
    assert [Image.open(io.BytesIO(file)).size for file in files] == [(1024, 1024)] * 2


def test_a_film_from_order_to_file(films: Connection) -> None:
    done = ended(films, submitted(films, KLING, prompt="a film", duration=3))
    assert isinstance(done, Done)
    assert done.duration == 3.0
    with av.open(io.BytesIO(files_of(films, done)[0])) as container:
        assert float(container.duration) / av.time_base == 3.0


def test_an_attached_job_is_found_by_its_id(films: Connection) -> None:
    handle = submitted(films, KLING, prompt="attached")
    again = adapter.attach(handle["id"], target_of("fal_video", "video", model=KLING))
    assert isinstance(ended(films, again), Done)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("a [moderated] film", ErrorKind.CONTENT_POLICY),
        ("a [rate-limited] film", ErrorKind.RATE_LIMITED),
        ("a [status=503] film", ErrorKind.OVERLOADED),
        ("a [garbage] film", ErrorKind.AMBIGUOUS),
        ("a [reset] film", ErrorKind.AMBIGUOUS),
    ],
)
def test_a_submit_that_goes_wrong(films: Connection, prompt: str, kind: ErrorKind) -> None:
    assert refusal(films, KLING, prompt=prompt).kind is kind


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("a [fail] film", ErrorKind.PROVIDER_FAILED),
        ("a [moderated-output] film", ErrorKind.CONTENT_POLICY),
        ("a [poll:garbage=1] film", ErrorKind.TRANSIENT),
        ("a [poll:fail=1] film", ErrorKind.TRANSIENT),
        ("a [poll:rate-limited=1] film", ErrorKind.RATE_LIMITED),
    ],
)
def test_a_job_that_goes_wrong(films: Connection, prompt: str, kind: ErrorKind) -> None:
    state = ended(films, submitted(films, KLING, prompt=prompt))
    assert isinstance(state, UpstreamError)
    assert state.kind is kind


def test_a_partial_result_has_one_fewer(images: Connection) -> None:
    done = ended(images, submitted(images, FLUX, prompt="[partial] foxes", n=3))
    assert isinstance(done, Done)
    assert len(done.outputs) == 2


def test_only_a_queued_job_is_cancelled(films: Connection) -> None:
    queued = submitted(films, KLING, prompt="later [queued]")
    running = submitted(films, KLING, prompt="now [queued=0][slow=60]")
    assert isinstance(adapter.poll([running], films)[0], Pending)
    assert (adapter.cancel(queued, films), adapter.cancel(running, films)) == (True, False)
    state = ended(films, queued)
    assert isinstance(state, UpstreamError)
    assert state.kind is ErrorKind.PROVIDER_FAILED


def test_a_job_that_is_not_there(films: Connection) -> None:
    state = ended(films, adapter.attach("nothing", target_of("fal_video", "video", model=KLING)))
    assert isinstance(state, UpstreamError)
    assert state.kind is ErrorKind.EMPTY_RESULT


def test_keys_are_told_apart(sandbox: Sandbox, films: Connection) -> None:
    wrong, broke = (reach(sandbox, "/fal", "fal_video", key) for key in ("wrong", "broke"))
    assert refusal(wrong, KLING).kind is ErrorKind.AUTH
    assert refusal(broke, KLING).kind is ErrorKind.QUOTA_EXHAUSTED
    adapter.probe(films)
    with pytest.raises(UpstreamError):
        adapter.probe(wrong)


@pytest.mark.parametrize(
    ("model", "body", "kind"),
    [
        (FLUX, {}, "missing"),
        (FLUX, {"prompt": ""}, "value_error"),
        (FLUX, {"prompt": "x", "num_images": 11}, "value_error"),
        (FLUX, {"prompt": "x", "image_size": {"width": 5}}, "value_error"),
        (FLUX, {"prompt": "x", "duration": 5}, "extra_forbidden"),
        (KLING, {"prompt": "x", "num_images": 1}, "extra_forbidden"),
        (KLING, {"prompt": "x", "image_url": "file:///etc/passwd"}, "value_error"),
        (KLING, [], "value_error"),
    ],
)
def test_the_sandbox_is_strict(sandbox: Sandbox, model: str, body: Any, kind: str) -> None:
    bought = sandbox.audit()["jobs"]
    response = post(sandbox, model, body)
    assert (response.status_code, response.json()["detail"][0]["type"]) == (422, kind)
    assert sandbox.audit()["jobs"] == bought


def test_the_sandbox_wants_fals_scheme_and_model(sandbox: Sandbox) -> None:
    assert post(sandbox, FLUX, {"prompt": "x"}, "Bearer any").status_code == 401
    assert post(sandbox, "fal-ai/no-such-model", {"prompt": "x"}).status_code == 404
