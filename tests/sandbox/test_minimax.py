"""MiniMax's video generation V2 over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import time
from ipaddress import ip_network

import av
import pytest
import requests

from adapters.ark_content_tasks import ArkContentTasks
from adapters.base import Done, ErrorKind, Pending, UpstreamError
from sandbox.server import Sandbox
from tests.adapters.making import connection_to, video_request
from tests.adapters.test_minimax import AUDIO, FIRST, IMAGE, LAST, OPTIONS, VIDEO, target

adapter = ArkContentTasks()


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(video_seconds=0.05) as running:
        yield running


@pytest.fixture
def connection(sandbox):
    return connected(sandbox)


def connected(sandbox, key="any"):
    networks = (ip_network("127.0.0.0/8"),)
    return connection_to(
        f"{sandbox.url}/minimax", credentials={"api_key": key}, options=OPTIONS, allow_networks=networks
    )


def submitted(connection, **fields):
    request = video_request(**({"resolution": "768p"} | fields))
    assert adapter.check(request, target()) == []
    return adapter.submit(adapter.build(request, target()), connection).handle


def ended(connection, *handles):
    """The states of these jobs, asked for in one batch, once all have ended."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        states = adapter.poll(handles, connection)
        if not any(isinstance(state, Pending) for state in states):
            return states
        time.sleep(0.02)
    raise AssertionError("the jobs do not end")


def fault_of(connection, **fields):
    with pytest.raises(UpstreamError) as caught:
        submitted(connection, **fields)
    return caught.value.kind


def test_jobs_are_made_in_one_batch_and_a_film_delivered(connection, tmp_path):
    forms = ({}, {"inputs": (FIRST, LAST), "aspect_ratio": "adaptive"}, {"inputs": (IMAGE, VIDEO, AUDIO)})
    states = ended(connection, *(submitted(connection, **form) for form in forms))
    assert all(isinstance(state, Done) and state.duration == 5.0 for state in states)
    file = tmp_path / "film.mp4"
    with adapter.open_output(states[0].outputs[0], connection) as chunks:
        file.write_bytes(b"".join(chunks))
    with av.open(file) as film:
        assert film.duration / 1_000_000 == pytest.approx(5, abs=0.2)
        assert film.streams.audio


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


def test_jobs_that_end_badly_or_short(connection):
    words = ("[fail]", "[moderated-output]", "[partial]")
    failed, moderated, short = ended(connection, *(submitted(connection, prompt=f"a fox {word}") for word in words))
    assert (failed.kind, moderated.kind) == (ErrorKind.PROVIDER_FAILED, ErrorKind.CONTENT_POLICY)
    assert short.duration == 2.0


def test_a_steering_word_at_a_poll(connection):
    (state,) = adapter.poll([submitted(connection, prompt="a fox [poll:status=429]")], connection)
    assert state.kind is ErrorKind.RATE_LIMITED


def test_a_queued_job_is_cancelled_and_a_running_one_is_not(connection):
    queued = submitted(connection, prompt="a fox [queued]")
    running = submitted(connection, prompt="a fox [queued=0][slow=60]")
    assert [adapter.cancel(handle, connection) for handle in (queued, running)] == [True, False]
    (state,) = ended(connection, queued)
    assert state.kind is ErrorKind.PROVIDER_FAILED


def test_a_job_that_is_not_there_is_an_empty_result(connection):
    (state,) = adapter.poll([{"id": "unknown"}], connection)
    assert state.kind is ErrorKind.EMPTY_RESULT


def test_keys_are_told_apart(sandbox):
    assert fault_of(connected(sandbox, "wrong")) is ErrorKind.AUTH
    assert fault_of(connected(sandbox, "broke")) is ErrorKind.QUOTA_EXHAUSTED
    adapter.probe(connected(sandbox))


TEXT = {"type": "text", "text": "a fox"}
GOOD = {"model": "MiniMax-H3", "content": [TEXT], "resolution": "768P", "duration": 5, "ratio": "16:9"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"resolution": "768p"},
        {"duration": "5"},
        {"duration": 16},
        {"ratio": "adaptive"},
        {"generate_audio": True},
        {"content": []},
        {"content": [TEXT, {"type": "image_url", "image_url": {"url": "https://x/a"}, "role": "last_frame"}]},
        {"content": [TEXT, {"type": "audio_url", "audio_url": {"url": "https://x/a"}, "role": "reference_audio"}]},
        {"model": "no-such-model"},
    ],
)
def test_a_bad_field_is_refused_and_buys_nothing(sandbox, wrong):
    before = sandbox.audit()["jobs"]
    headers = {"Authorization": "Bearer any"}
    url = f"{sandbox.url}/minimax/v2/video_generation"
    answer = requests.post(url, json=GOOD | wrong, headers=headers, timeout=10)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].endswith("(2013)")
    assert sandbox.audit()["jobs"] == before
