"""The DashScope video protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import io
import time
from typing import Any

import av
import pytest

from adapters.base import Accepted, Connection, Done, ErrorKind, MediaInput, Target, UpstreamError, UpstreamRequest
from adapters.registry import ADAPTERS
from sandbox.server import Sandbox
from tests.adapters.making import connection_to, video_request

adapter = ADAPTERS["dashscope_video"]
URL = "https://cdn.example.com/a.png"
FIRST = MediaInput(type="image", role="first_frame", url=URL)
LAST = MediaInput(type="image", role="last_frame", url=URL)
IMAGE = MediaInput(type="image", role="reference", url=URL)
LEGACY = {"generation": "legacy", "size_table": {"720p": {"16:9": "1280x720", "9:16": "720x1280"}}}


@pytest.fixture(scope="module")
def running() -> Any:
    with Sandbox(video_seconds=0.05) as sandbox:
        yield sandbox


def connection(sandbox: Sandbox, key: str = "any") -> Connection:
    return connection_to(f"{sandbox.url}/dashscope/api/v1", credentials={"api_key": key}, total_timeout=10.0)


def built(
    prompt: str, model: str = "wan3.0-video", capabilities: dict[str, Any] | None = None, **fields: Any
) -> UpstreamRequest:
    target = Target(
        adapter="dashscope_video", base_url="https://x", upstream_model=model, capabilities=capabilities or {}
    )
    request = video_request(prompt=prompt, **fields)
    assert adapter.check(request, target) == []
    return adapter.build(request, target)


def submitted(upstream: UpstreamRequest, reached: Connection) -> Accepted:
    accepted = adapter.submit(upstream, reached)
    assert isinstance(accepted, Accepted)
    return accepted


def finished(accepted: Accepted, reached: Connection) -> Done | UpstreamError:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        (state,) = adapter.poll([accepted.handle], reached)
        if isinstance(state, Done | UpstreamError):
            return state
        time.sleep(0.01)
    raise AssertionError("the job did not end")


@pytest.mark.parametrize(
    ("model", "capabilities", "fields", "is_tall"),
    [
        ("wan3.0-video", {}, {"generate_audio": True, "aspect_ratio": "9:16"}, True),
        ("wan3.0-video", {}, {"inputs": (FIRST, LAST), "aspect_ratio": "adaptive"}, False),
        ("wan3.0-video", {}, {"inputs": (IMAGE, IMAGE), "provider_options": {"seed": 7}}, False),
        ("wan2.6-t2v", LEGACY, {"aspect_ratio": "9:16"}, True),
        ("wan2.6-i2v", LEGACY, {"inputs": (FIRST,), "aspect_ratio": "adaptive"}, False),
        ("wan2.6-r2v", LEGACY, {"inputs": (IMAGE,)}, False),
    ],
)
def test_a_job_becomes_the_asked_film(
    running: Sandbox, model: str, capabilities: dict[str, Any], fields: dict[str, Any], is_tall: bool
) -> None:
    reached = connection(running)
    done = finished(submitted(built("a fox", model, capabilities, duration=4, **fields), reached), reached)
    assert isinstance(done, Done)
    assert done.duration == 4.0
    with adapter.open_output(done.outputs[0], reached) as chunks:
        film = b"".join(chunks)
    with av.open(io.BytesIO(film)) as container:
        assert container.duration / 1_000_000 == pytest.approx(4, abs=0.1)
        assert (container.streams.video[0].height > container.streams.video[0].width) is is_tall
        assert bool(container.streams.audio) is ("generate_audio" in fields)


def test_half_a_film_reports_its_own_length(running: Sandbox) -> None:
    reached = connection(running)
    done = finished(submitted(built("a fox [partial]", duration=8), reached), reached)
    assert isinstance(done, Done)
    assert done.duration == 4.0


@pytest.mark.parametrize(
    ("word", "kind"), [("fail", ErrorKind.PROVIDER_FAILED), ("moderated-output", ErrorKind.CONTENT_POLICY)]
)
def test_a_job_that_ends_badly(running: Sandbox, word: str, kind: ErrorKind) -> None:
    reached = connection(running)
    error = finished(submitted(built(f"a fox [{word}]"), reached), reached)
    assert isinstance(error, UpstreamError)
    assert error.kind is kind


@pytest.mark.parametrize(
    ("key", "word", "kind"),
    [
        ("wrong", "", ErrorKind.AUTH),
        ("broke", "", ErrorKind.QUOTA_EXHAUSTED),
        ("any", "[moderated]", ErrorKind.CONTENT_POLICY),
        ("any", "[rate-limited]", ErrorKind.RATE_LIMITED),
        ("any", "[status=502]", ErrorKind.AMBIGUOUS),
        ("any", "[garbage]", ErrorKind.AMBIGUOUS),
    ],
)
def test_a_submit_is_refused_in_the_protocols_words(running: Sandbox, key: str, word: str, kind: ErrorKind) -> None:
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(built(f"a fox {word}"), connection(running, key))
    assert caught.value.kind is kind


def test_a_waiting_job_is_cancelled_and_a_finished_one_is_not(running: Sandbox) -> None:
    reached = connection(running)
    waiting = submitted(built("a fox [queued]"), reached)
    assert adapter.cancel(waiting.handle, reached) is True
    assert isinstance(finished(waiting, reached), UpstreamError)
    ready = submitted(built("a fox"), reached)
    assert isinstance(finished(ready, reached), Done)
    assert adapter.cancel(ready.handle, reached) is False


@pytest.mark.parametrize(
    "changes",
    [
        {"quality": "high"},
        {"model": ""},
        {"model": "no-such-model"},
        {"input": {}},
        {"input": {"prompt": "a strict fox", "img_url": URL}},
        {"input": {"prompt": "a strict fox", "media": [{"type": "middle_frame", "url": URL}]}},
        {"input": {"prompt": "a strict fox", "media": [{"type": "last_frame", "url": URL}]}},
        {"parameters": {"resolution": "720p"}},
        {"parameters": {"duration": "5"}},
        {"parameters": {"size": "1280*720"}},
        {"parameters": {"seed": -1}},
        {"model": "wan2.6-t2v", "parameters": {"ratio": "16:9"}},
    ],
)
def test_the_sandbox_refuses_what_the_provider_refuses(running: Sandbox, changes: dict[str, Any]) -> None:
    upstream = built("a strict fox")
    body = {**upstream.body, **changes}
    strange = UpstreamRequest(path=upstream.path, body=body, billed=upstream.billed)
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(strange, connection(running))
    assert caught.value.kind is ErrorKind.INVALID_REQUEST
    assert "a strict fox" not in running.audit()["by_prompt"]
