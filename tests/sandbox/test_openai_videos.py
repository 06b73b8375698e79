"""The OpenAI Videos protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import pytest
import requests

from adapters.base import Done, ErrorKind, MediaInput, Pending, UpstreamError
from adapters.openai_videos import OpenAIVideos
from sandbox.server import Sandbox
from tests.adapters.making import PNG, connection_to, video_request
from tests.adapters.test_openai_videos import JSON, target
from tests.sandbox.video_jobs import ended, film_of

adapter = OpenAIVideos()


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(video_seconds=0.05) as running:
        yield running


def connected(sandbox, key="any", **changes):
    return connection_to(f"{sandbox.url}/openai/v1", credentials={"api_key": key}, **changes)


def submitted(connection, options=None, **fields):
    request = video_request(**({"duration": 2} | fields))
    return adapter.submit(adapter.build(request, target(options)), connection).handle


def result(sandbox, prompt):
    connection = connected(sandbox)
    return ended(adapter, submitted(connection, prompt=prompt), connection)


def fault_of(connection, **fields):
    with pytest.raises(UpstreamError) as caught:
        submitted(connection, **fields)
    return caught.value.kind


def post(sandbox, key="any", **request):
    headers = {"Authorization": f"Bearer {key}"}
    return requests.post(f"{sandbox.url}/openai/v1/videos", headers=headers, timeout=10, **request)


@pytest.mark.parametrize("options", [None, JSON])
def test_a_job_becomes_a_film(sandbox, options):
    connection = connected(sandbox)
    images = f"{sandbox.url}/openai/v1/images/generations"
    body = {"model": "m", "prompt": "[url]"}
    made = requests.post(images, headers={"Authorization": "Bearer k"}, json=body, timeout=10)
    frame = MediaInput(type="image", role="first_frame", url=made.json()["data"][0]["url"])
    done = ended(adapter, submitted(connection, options, aspect_ratio="9:16", inputs=(frame,)), connection)
    assert done.duration == 2.0
    seconds, width, height, _ = film_of(adapter, done, connection)
    assert seconds == pytest.approx(2, abs=0.1)
    assert width < height


def test_the_film_needs_the_key(sandbox):
    done = result(sandbox, "a fox")
    assert requests.get(done.outputs[0].url, timeout=10).status_code == 401


def test_a_job_tells_how_far_it_is(sandbox):
    connection = connected(sandbox)
    (state,) = adapter.poll([submitted(connection, prompt="[slow=30]")], connection)
    assert isinstance(state, Pending)
    assert state.progress is not None


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("[fail]", ErrorKind.PROVIDER_FAILED),
        ("[moderated-output]", ErrorKind.CONTENT_POLICY),
        ("[poll:fail]", ErrorKind.TRANSIENT),
        ("[poll:rate-limited]", ErrorKind.RATE_LIMITED),
        ("[poll:garbage]", ErrorKind.TRANSIENT),
        ("[poll:reset]", ErrorKind.TRANSIENT),
    ],
)
def test_a_job_ends_or_is_polled_as_its_prompt_says(sandbox, prompt, kind):
    assert result(sandbox, prompt).kind is kind


def test_a_partial_job_reports_and_delivers_half(sandbox):
    done = result(sandbox, "[partial]")
    assert done.duration == 1.0
    assert film_of(adapter, done, connected(sandbox))[0] == pytest.approx(1, abs=0.1)


def test_a_download_breaks_off_as_its_prompt_says(sandbox):
    done = result(sandbox, "[download:reset=1]")
    assert isinstance(done, Done)
    with pytest.raises(UpstreamError) as caught:
        film_of(adapter, done, connected(sandbox))
    assert caught.value.kind is ErrorKind.TRANSIENT
    assert film_of(adapter, done, connected(sandbox))[0] == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(
    ("key", "prompt", "kind"),
    [
        ("wrong", "a fox", ErrorKind.AUTH),
        ("broke", "a fox", ErrorKind.QUOTA_EXHAUSTED),
        ("any", "[moderated]", ErrorKind.CONTENT_POLICY),
        ("any", "[rate-limited]", ErrorKind.RATE_LIMITED),
        ("any", "[status=503]", ErrorKind.OVERLOADED),
        ("any", "[garbage]", ErrorKind.AMBIGUOUS),
        ("any", "[reset]", ErrorKind.AMBIGUOUS),
    ],
)
def test_a_submission_is_refused_or_lost_as_asked(sandbox, key, prompt, kind):
    assert fault_of(connected(sandbox, key), prompt=prompt) is kind


def test_a_probe_needs_the_key(sandbox):
    adapter.probe(connected(sandbox))
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(connected(sandbox, "wrong"))
    assert caught.value.kind is ErrorKind.AUTH


def test_a_job_is_deleted_only_once_it_has_ended(sandbox):
    connection = connected(sandbox)
    headers = {"Authorization": "Bearer any"}
    running, over = submitted(connection, prompt="[slow=30]"), submitted(connection)
    assert isinstance(ended(adapter, over, connection), Done)
    answers = [
        requests.delete(f"{connection.base_url}/videos/{handle['id']}", headers=headers, timeout=10)
        for handle in (running, over)
    ]
    assert [answer.status_code for answer in answers] == [400, 200]
    assert answers[1].json() == {"id": over["id"], "object": "video.deleted", "deleted": True}
    assert ended(adapter, over, connection).kind is ErrorKind.EMPTY_RESULT


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"seconds": 4}, "invalid_type"),
        ({"seconds": "4.5"}, "invalid_value"),
        ({"size": "640x480"}, "invalid_value"),
        ({"generate_audio": True}, "unknown_parameter"),
        ({"input_reference": "https://x.example.com/a.png"}, "invalid_type"),
        ({"prompt": ""}, "missing_required_parameter"),
        ({"model": "no-such-model"}, "model_not_found"),
    ],
)
def test_the_sandbox_refuses_what_the_protocol_does_not_know(sandbox, changes, code):
    answer = post(sandbox, json={"model": "m", "prompt": "a fox"} | changes)
    assert answer.json()["error"]["code"] == code
    assert answer.status_code in (400, 404)


def test_a_reference_in_a_form_must_be_a_picture(sandbox):
    fields = {"model": "m", "prompt": "a fox"}
    answers = [
        post(sandbox, data=fields, files={"input_reference": ("a.png", PNG)}),
        post(sandbox, files={name: (None, text) for name, text in (fields | {"input_reference": "a"}).items()}),
    ]
    assert [answer.json()["error"]["code"] for answer in answers] == ["invalid_image_file", "invalid_type"]
