"""The OpenRouter Videos protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import pytest
import requests

from adapters.base import Done, ErrorKind, Output, UpstreamError
from adapters.openrouter_videos import OpenRouterVideos
from sandbox.server import Sandbox
from tests.adapters.making import connection_to, video_request
from tests.adapters.test_openrouter_videos import AUDIO, EVERY_REFERENCE, FIRST, IMAGE, LAST, VIDEO, target
from tests.sandbox.video_jobs import ended, film_of

adapter = OpenRouterVideos()
LINK = {"type": "image_url", "image_url": {"url": "https://x.example.com/a.png"}}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(video_seconds=0.05) as running:
        yield running


def connected(sandbox, key="any"):
    return connection_to(f"{sandbox.url}/openrouter/api/v1", credentials={"api_key": key})


def submitted(connection, **fields):
    request = video_request(**({"duration": 2} | fields))
    where = target(roles=EVERY_REFERENCE | {"first_frame": 1, "last_frame": 1})
    assert adapter.check(request, where) == []
    return adapter.submit(adapter.build(request, where), connection).handle


def result(sandbox, prompt):
    connection = connected(sandbox)
    return ended(adapter, submitted(connection, prompt=prompt), connection)


@pytest.mark.parametrize(
    ("fields", "tracks"),
    [
        ({"generate_audio": True, "inputs": (FIRST, LAST)}, 1),
        ({"inputs": (IMAGE, VIDEO, AUDIO), "resolution": "4k", "provider_options": {"seed": 1}}, 0),
    ],
)
def test_a_job_becomes_a_film(sandbox, fields, tracks):
    connection = connected(sandbox)
    done = ended(adapter, submitted(connection, aspect_ratio="2:3", **fields), connection)
    assert "/files/" in done.outputs[0].url
    seconds, width, height, sound = film_of(adapter, done, connection)
    assert seconds == pytest.approx(2, abs=0.1)
    assert (width < height, sound) == (True, tracks)


def test_the_content_path_gives_the_film_to_the_key_only(sandbox):
    connection = connected(sandbox)
    handle = submitted(connection)
    assert isinstance(ended(adapter, handle, connection), Done)
    url = f"{connection.base_url}/videos/{handle['id']}/content?index=0"
    film = Done(outputs=(Output(index=0, kind="video", url=url),))
    assert film_of(adapter, film, connection)[0] == pytest.approx(2, abs=0.1)
    assert requests.get(url, timeout=10).status_code == 401


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("[fail]", ErrorKind.PROVIDER_FAILED),
        ("[moderated-output]", ErrorKind.CONTENT_POLICY),
        ("[poll:fail]", ErrorKind.TRANSIENT),
        ("[poll:rate-limited]", ErrorKind.RATE_LIMITED),
        ("[poll:garbage]", ErrorKind.TRANSIENT),
    ],
)
def test_a_job_ends_or_is_polled_as_its_prompt_says(sandbox, prompt, kind):
    assert result(sandbox, prompt).kind is kind


def test_a_partial_job_delivers_half(sandbox):
    assert film_of(adapter, result(sandbox, "[partial]"), connected(sandbox))[0] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("key", "prompt", "kind"),
    [
        ("wrong", "a fox", ErrorKind.AUTH),
        ("broke", "a fox", ErrorKind.QUOTA_EXHAUSTED),
        ("any", "[moderated]", ErrorKind.CONTENT_POLICY),
        ("any", "[rate-limited]", ErrorKind.RATE_LIMITED),
        ("any", "[status=529]", ErrorKind.OVERLOADED),
        ("any", "[garbage]", ErrorKind.AMBIGUOUS),
        ("any", "[reset]", ErrorKind.AMBIGUOUS),
    ],
)
def test_a_submission_is_refused_or_lost_as_asked(sandbox, key, prompt, kind):
    with pytest.raises(UpstreamError) as caught:
        submitted(connected(sandbox, key), prompt=prompt)
    assert caught.value.kind is kind


def test_a_probe_needs_the_key(sandbox):
    adapter.probe(connected(sandbox))
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(connected(sandbox, "wrong"))
    assert caught.value.kind is ErrorKind.AUTH


def test_an_unknown_job_is_an_empty_result(sandbox):
    (state,) = adapter.poll([{"id": "gen-vid-0"}], connected(sandbox))
    assert state.kind is ErrorKind.EMPTY_RESULT


@pytest.mark.parametrize(
    "changes",
    [
        {"duration": "5"},
        {"resolution": "4k"},
        {"aspect_ratio": "5:4"},
        {"inputs": []},
        {"frame_images": [LINK]},
        {"frame_images": [LINK | {"frame_type": "first_frame"}] * 2},
        {"input_references": [LINK | {"role": "reference"}]},
        {"provider": {"order": ["google"]}},
        {"prompt": ""},
    ],
)
def test_the_sandbox_refuses_what_the_protocol_does_not_know(sandbox, changes):
    body = {"model": "m", "prompt": "a fox"} | changes
    url, headers = f"{sandbox.url}/openrouter/api/v1/videos", {"Authorization": "Bearer any"}
    answer = requests.post(url, headers=headers, json=body, timeout=10)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == 400
    assert next(iter(changes)) in answer.json()["error"]["message"]
