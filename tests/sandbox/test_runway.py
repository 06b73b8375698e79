"""The Runway protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import time
from ipaddress import ip_network

import av
import pytest
import requests

from adapters.base import Connection, Done, ErrorKind, Pending, UpstreamError
from adapters.runway import Runway
from sandbox.server import Sandbox
from tests.adapters.making import connection_to, video_request
from tests.adapters.test_runway import AUDIO, FIRST, IMAGE, LAST, VIDEO, target

adapter = Runway()


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(video_seconds=0.05) as running:
        yield running


@pytest.fixture
def connection(sandbox) -> Connection:
    return connected(sandbox)


def connected(sandbox, key="any", **changes) -> Connection:
    options = {"allow_networks": (ip_network("127.0.0.0/8"),), "options": {"poll_seconds": 0.2}} | changes
    return connection_to(f"{sandbox.url}/runway", credentials={"api_key": key}, **options)


def submitted(connection, where=None, **fields):
    return adapter.submit(adapter.build(video_request(**fields), where or target()), connection).handle


def ended(connection, handle):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        (state,) = adapter.poll([handle], connection)
        if not isinstance(state, Pending):
            return state
        time.sleep(0.02)
    raise AssertionError("the task does not end")


def fault_of(connection, **fields):
    with pytest.raises(UpstreamError) as caught:
        submitted(connection, **fields)
    return caught.value.kind


@pytest.mark.parametrize(
    ("where", "fields"),
    [
        (target(), {"generate_audio": True, "aspect_ratio": "9:16"}),
        (target("router"), {"inputs": (IMAGE, VIDEO, AUDIO), "aspect_ratio": "9:16", "generate_audio": True}),
    ],
)
def test_a_task_is_made_and_its_film_delivered(connection, tmp_path, where, fields):
    state = ended(connection, submitted(connection, where, **fields))
    assert isinstance(state, Done)
    file = tmp_path / "film.mp4"
    with adapter.open_output(state.outputs[0], connection) as chunks:
        file.write_bytes(b"".join(chunks))
    with av.open(file) as film:
        assert film.duration / 1_000_000 == pytest.approx(5, abs=0.2)
        assert film.streams.video[0].width < film.streams.video[0].height
        assert film.streams.audio


@pytest.mark.parametrize(
    ("where", "fields"),
    [
        (target(), {"inputs": (FIRST, LAST), "provider_options": {"seed": 3}}),
        (target(), {"inputs": (IMAGE, VIDEO, AUDIO)}),
        (target(), {"inputs": (FIRST,), "aspect_ratio": "adaptive"}),
        (target(audio="always", sizes="words"), {"resolution": "768p"}),
        (target("router"), {"inputs": (FIRST, LAST), "provider_options": {"negativePrompt": "rain"}}),
    ],
)
def test_every_form_of_a_request_is_taken(connection, where, fields):
    assert isinstance(ended(connection, submitted(connection, where, **fields)), Done)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("[moderated]", ErrorKind.CONTENT_POLICY),
        ("[rate-limited]", ErrorKind.RATE_LIMITED),
        ("[status=503]", ErrorKind.OVERLOADED),
        ("[reset]", ErrorKind.AMBIGUOUS),
        ("[garbage]", ErrorKind.AMBIGUOUS),
    ],
)
def test_steering_words_at_the_submission(connection, word, kind):
    assert fault_of(connection, prompt=f"a fox {word}") is kind


@pytest.mark.parametrize(
    ("word", "kind"),
    [("[fail]", ErrorKind.PROVIDER_FAILED), ("[moderated-output]", ErrorKind.CONTENT_POLICY)],
)
def test_a_task_that_ends_badly(connection, word, kind):
    state = ended(connection, submitted(connection, prompt=f"a fox {word}"))
    assert isinstance(state, UpstreamError)
    assert state.kind is kind


@pytest.mark.parametrize(
    ("word", "kind"),
    [("[poll:status=429]", ErrorKind.RATE_LIMITED), ("[poll:fail]", ErrorKind.TRANSIENT)],
)
def test_steering_words_at_a_poll(connection, word, kind):
    (state,) = adapter.poll([submitted(connection, prompt=f"a fox {word}")], connection)
    assert isinstance(state, UpstreamError)
    assert state.kind is kind


def test_a_waiting_and_a_running_task_are_cancelled(connection):
    for word in ("[queued]", "[slow=60]"):
        handle = submitted(connection, prompt=f"a fox {word}")
        assert adapter.cancel(handle, connection) is True
        assert ended(connection, handle).kind is ErrorKind.PROVIDER_FAILED
        assert adapter.cancel(handle, connection) is False


def test_a_task_that_is_not_there_is_an_empty_result(connection):
    (state,) = adapter.poll([{"id": "unknown"}], connection)
    assert state.kind is ErrorKind.EMPTY_RESULT


def test_keys_are_told_apart(sandbox):
    assert fault_of(connected(sandbox, "wrong")) is ErrorKind.AUTH
    assert fault_of(connected(sandbox, "broke")) is ErrorKind.QUOTA_EXHAUSTED
    adapter.probe(connected(sandbox))
    with pytest.raises(UpstreamError):
        adapter.probe(connected(sandbox, "wrong"))


GOOD = {"model": "gen4.5", "promptText": "a fox", "duration": 5, "ratio": "1280:720"}


@pytest.mark.parametrize(
    ("endpoint", "body", "path"),
    [
        ("text_to_video", GOOD | {"n": 1}, ["n"]),
        ("text_to_video", GOOD | {"promptImage": [{"uri": "https://x/a", "position": "first"}]}, ["promptImage"]),
        ("text_to_video", GOOD | {"ratio": "1280x720"}, ["ratio"]),
        ("text_to_video", GOOD | {"duration": "5"}, ["duration"]),
        ("text_to_video", {"model": "gen4.5", "promptText": "a fox", "duration": 5}, ["ratio"]),
        ("text_to_video", GOOD | {"model": "no-such-model"}, ["model"]),
        ("image_to_video", GOOD, ["promptImage"]),
        ("image_to_video", GOOD | {"promptImage": [{"uri": "http://x/a", "position": "first"}]}, ["promptImage"]),
        ("generate/video", {"configId": "c", "input": {"promptText": "a", "ratio": "16:9"}}, ["input", "ratio"]),
        ("generate/video", {"input": {}}, ["configId"]),
    ],
)
def test_a_bad_field_is_refused_by_name_and_buys_nothing(sandbox, endpoint, body, path):
    before = sandbox.audit()["jobs"]
    headers = {"Authorization": "Bearer any", "X-Runway-Version": "2024-11-06"}
    answer = requests.post(f"{sandbox.url}/runway/v1/{endpoint}", json=body, headers=headers, timeout=10)
    assert answer.status_code == 400
    assert answer.json()["issues"][0]["path"] == path
    assert sandbox.audit()["jobs"] == before


def test_a_request_without_the_version_is_refused(sandbox):
    headers = {"Authorization": "Bearer any"}
    answer = requests.post(f"{sandbox.url}/runway/v1/text_to_video", json=GOOD, headers=headers, timeout=10)
    assert answer.status_code == 400
    assert "X-Runway-Version" in answer.json()["error"]
