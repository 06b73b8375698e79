"""The Kling protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import io
import time
from typing import Any

import av
import pytest

from adapters.base import Accepted, Connection, Done, ErrorKind, MediaInput, Target, UpstreamError, UpstreamRequest
from adapters.registry import ADAPTERS
from sandbox.server import Sandbox
from tests.adapters.making import connection_to, video_request

adapter = ADAPTERS["kling_tasks"]
URL = "https://cdn.example.com/a.png"
FIRST = MediaInput(type="image", role="first_frame", url=URL)
IMAGE = MediaInput(type="image", role="reference", url=URL)
VIDEO = MediaInput(type="video", role="reference", url="https://cdn.example.com/a.mp4")
FRAMES = {"inputs": (FIRST,), "aspect_ratio": "adaptive"}
PAIR = {"access_key": "mine", "secret_key": "mine-secret"}


@pytest.fixture(scope="module")
def running() -> Any:
    with Sandbox(video_seconds=0.05) as sandbox:
        yield sandbox


def connection(sandbox: Sandbox, **changes: Any) -> Connection:
    return connection_to(f"{sandbox.url}/kling", **{"total_timeout": 10.0, **changes})


def built(prompt: str, model: str = "kling-3.0", api: str = "v3", **fields: Any) -> UpstreamRequest:
    target = Target(adapter="kling_tasks", base_url="https://x", upstream_model=model, options={"api": api})
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
    ("api", "credentials", "fields", "sound"),
    [
        ("v3", {"api_key": "any"}, {"generate_audio": True}, True),
        ("v3", {"api_key": "any"}, FRAMES, False),
        ("v3", {"api_key": "any"}, {"inputs": (IMAGE, VIDEO)}, False),
        ("v1", PAIR, {}, False),
        ("v1", PAIR, FRAMES, False),
        ("v1", PAIR, {"inputs": (IMAGE, VIDEO), "resolution": "1080p"}, False),
    ],
)
def test_a_job_becomes_the_asked_film(
    running: Sandbox, api: str, credentials: dict[str, str], fields: dict[str, Any], sound: bool
) -> None:
    reached = connection(running, credentials=credentials)
    done = finished(submitted(built("a fox", api=api, duration=4, **fields), reached), reached)
    assert isinstance(done, Done)
    assert done.duration == 4.0
    with adapter.open_output(done.outputs[0], reached) as chunks:
        film = b"".join(chunks)
    with av.open(io.BytesIO(film)) as container:
        assert container.duration / 1_000_000 == pytest.approx(4, abs=0.1)
        assert bool(container.streams.audio) is sound


@pytest.mark.parametrize(("api", "credentials"), [("v3", {"api_key": "any"}), ("v1", PAIR)])
def test_a_job_whose_answer_was_lost_is_found_and_not_bought_twice(
    running: Sandbox, api: str, credentials: dict[str, str]
) -> None:
    name = f"task-{api}-1"
    reached = connection(running, credentials=credentials, reference=name)
    upstream = built(f"a lost fox {api} [reset=1]", api=api)
    assert adapter.find(upstream, reached) is None
    for _ in range(2):
        with pytest.raises(UpstreamError) as caught:
            adapter.submit(upstream, reached)
        assert caught.value.kind is ErrorKind.AMBIGUOUS
    found = adapter.find(upstream, reached)
    assert found is not None
    assert isinstance(finished(found, reached), Done)
    assert running.audit()["by_reference"][name] == 1


def test_many_jobs_are_polled_at_once(running: Sandbox) -> None:
    reached = connection(running)
    jobs = [submitted(built(f"fox {number} [queued]"), reached) for number in range(2)]
    gone = {"id": "12345", "path": "/tasks"}
    first, second, unknown = adapter.poll([*(job.handle for job in jobs), gone], reached)
    assert first == second
    assert isinstance(unknown, UpstreamError)
    assert unknown.kind is ErrorKind.EMPTY_RESULT


@pytest.mark.parametrize(
    ("word", "kind"), [("fail", ErrorKind.PROVIDER_FAILED), ("moderated-output", ErrorKind.CONTENT_POLICY)]
)
@pytest.mark.parametrize("api", ["v3", "v1"])
def test_a_job_that_ends_badly(running: Sandbox, api: str, word: str, kind: ErrorKind) -> None:
    reached = connection(running)
    error = finished(submitted(built(f"a fox [{word}]", api=api), reached), reached)
    assert isinstance(error, UpstreamError)
    assert error.kind is kind


def test_half_a_film_reports_its_own_length(running: Sandbox) -> None:
    reached = connection(running)
    done = finished(submitted(built("a fox [partial]", duration=8), reached), reached)
    assert isinstance(done, Done)
    assert done.duration == 4.0


@pytest.mark.parametrize(
    ("credentials", "word", "kind"),
    [
        ({"api_key": "wrong"}, "", ErrorKind.AUTH),
        ({"api_key": "broke"}, "", ErrorKind.QUOTA_EXHAUSTED),
        (PAIR, "", ErrorKind.AUTH),
        ({"api_key": "any"}, "[moderated]", ErrorKind.CONTENT_POLICY),
        ({"api_key": "any"}, "[rate-limited]", ErrorKind.RATE_LIMITED),
        ({"api_key": "any"}, "[status=503]", ErrorKind.OVERLOADED),
        ({"api_key": "any"}, "[garbage]", ErrorKind.AMBIGUOUS),
    ],
)
def test_a_submit_is_refused_in_the_protocols_words(
    running: Sandbox, credentials: dict[str, str], word: str, kind: ErrorKind
) -> None:
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(built(f"a fox {word}"), connection(running, credentials=credentials))
    assert caught.value.kind is kind


def test_the_older_generation_checks_the_signature(running: Sandbox) -> None:
    forged = {"access_key": "mine", "secret_key": "guessed"}
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(built("a fox", api="v1"), connection(running, credentials=forged))
    assert (caught.value.kind, caught.value.code) == (ErrorKind.AUTH, "1000")


def test_poll_faults_pass(running: Sandbox) -> None:
    reached = connection(running)
    job = submitted(built("a fox [poll:fail=1][poll:garbage=1]"), reached)
    kinds = [state.kind for _ in range(2) for state in adapter.poll([job.handle], reached)]  # type: ignore[union-attr]
    assert kinds == [ErrorKind.TRANSIENT] * 2
    assert isinstance(finished(job, reached), Done)


@pytest.mark.parametrize(("api", "credentials"), [("v3", {"api_key": "any"}), ("v1", PAIR)])
def test_a_probe_needs_the_key_only(running: Sandbox, api: str, credentials: dict[str, str]) -> None:
    adapter.probe(connection(running, credentials=credentials, options={"api": api}))
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(connection(running, credentials={"api_key": "wrong"}, options={"api": api}))
    assert caught.value.kind is ErrorKind.AUTH


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("/text-to-video/kling-3.0", {"model": "kling-3.0"}),
        ("/text-to-video/kling-3.0", {"settings": {"duration": "5"}}),
        ("/text-to-video/kling-3.0", {"settings": {"duration": 2}}),
        ("/text-to-video/kling-3.0", {"settings": {"seed": 1}}),
        ("/text-to-video/kling-3.0-turbo", {"settings": {"audio": "off"}}),
        ("/text-to-video/kling-3.0", {"prompt": ""}),
        ("/image-to-video/kling-3.0", {}),
        ("/omni-video/kling-3.0-omni", {"prompt": None, "contents": [{"type": "prompt", "text": "a fox"}]}),
        ("/text-to-video/no-such-model", {}),
        ("/v1/videos/text2video", {"model_name": "m", "duration": 5}),
        ("/v1/videos/image2video", {"model_name": "m"}),
    ],
)
def test_the_sandbox_refuses_what_the_provider_refuses(running: Sandbox, path: str, changes: dict[str, Any]) -> None:
    fields = {"prompt": "a strict fox", **changes}
    body = {name: value for name, value in fields.items() if value is not None}
    upstream = UpstreamRequest(path=path, body=body, billed=built("a fox").billed)
    with pytest.raises(UpstreamError) as caught:
        adapter.submit(upstream, connection(running))
    assert caught.value.kind is ErrorKind.INVALID_REQUEST
    assert "a strict fox" not in running.audit()["by_prompt"]
