"""The Kling protocol: both of its generations, jobs found by our name, and how strict the sandbox is."""

from dataclasses import replace

import pytest

from adapters.base import Done, ErrorKind, MediaInput, UpstreamError, UpstreamRequest
from tests.sandbox.driving import check_keys, fault_of

URL = "https://cdn.example.com/a.png"
FIRST = MediaInput(type="image", role="first_frame", url=URL)
IMAGE = MediaInput(type="image", role="reference", url=URL)
VIDEO = MediaInput(type="video", role="reference", url="https://cdn.example.com/a.mp4")
FRAMES = {"inputs": (FIRST,), "aspect_ratio": "adaptive"}
PAIR = {"access_key": "mine", "secret_key": "mine-secret"}


@pytest.fixture
def kling(caller):
    return caller("kling_tasks", "/kling", "video", "kling-3.0", options={"api": "v3"})


@pytest.fixture
def older(kling):
    return replace(kling, options={"api": "v1"}, credentials=PAIR)


def test_a_job_becomes_the_asked_film(kling, older):
    for one, fields, sound in (
        (kling, {"generate_audio": True}, True),
        (kling, FRAMES, False),
        (kling, {"inputs": (IMAGE, VIDEO)}, False),
        (older, {}, False),
        (older, FRAMES, False),
        (older, {"inputs": (IMAGE, VIDEO), "resolution": "1080p"}, False),
    ):
        done = one.result(duration=4, **fields)
        film = one.film(done)
        assert (done.duration, film.seconds, film.has_sound) == (4.0, 4, sound), fields


@pytest.mark.parametrize("generation", ["kling", "older"])
def test_a_job_whose_answer_was_lost_is_found_and_not_bought_twice(request, generation):
    one = replace(request.getfixturevalue(generation), more={"reference": "task-1"})
    upstream = one.built(prompt="a lost fox [reset=1]")
    assert one.speaks.find(upstream, one.connection) is None
    for _ in range(2):
        assert fault_of(lambda: one.speaks.submit(upstream, one.connection)).kind is ErrorKind.AMBIGUOUS
    found = one.speaks.find(upstream, one.connection)
    assert isinstance(one.ended(found.handle), Done)
    assert one.sandbox.audit()["by_reference"] == {"task-1": 1}


def test_many_jobs_are_polled_at_once(kling):
    jobs = [kling.handle(prompt=f"fox {number} [queued=99999]") for number in range(2)]
    first, second, unknown = kling.speaks.poll([*jobs, {"id": "12345", "path": "/tasks"}], kling.connection)
    assert first == second
    assert isinstance(unknown, UpstreamError)
    assert unknown.kind is ErrorKind.EMPTY_RESULT


def test_a_job_of_the_older_generation_that_ends_badly(older):
    kinds = [older.result(prompt=word).kind for word in ("[fail]", "[moderated-output]")]
    assert kinds == [ErrorKind.PROVIDER_FAILED, ErrorKind.CONTENT_POLICY]


def test_keys_are_told_apart_in_both_generations(kling, older):
    check_keys(kling)
    older.probe()
    for one in (replace(kling, credentials=PAIR), replace(older, credentials=PAIR | {"secret_key": "guessed"})):
        assert fault_of(one.submit).kind is ErrorKind.AUTH
    assert fault_of(replace(older, credentials={"api_key": "wrong"}).probe).kind is ErrorKind.AUTH


def test_the_sandbox_refuses_what_the_provider_refuses(kling):
    for path, changes in (
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
    ):
        fields = {"prompt": "a fox", **changes}
        body = {name: value for name, value in fields.items() if value is not None}
        upstream = UpstreamRequest(path=path, body=body, billed=kling.built().billed)
        fault = fault_of(lambda upstream=upstream: kling.speaks.submit(upstream, kling.connection))
        is_model = path.endswith("no-such-model")
        expected = ErrorKind.MODEL_UNAVAILABLE if is_model else ErrorKind.INVALID_REQUEST
        assert fault.kind is expected, (path, changes)
    assert kling.bought() == 0
