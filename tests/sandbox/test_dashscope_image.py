"""The DashScope image protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import io
import time
from dataclasses import replace

import pytest
import requests
from PIL import Image

from adapters.base import Accepted, Done, ErrorKind, ImageRef, Pending, UpstreamError
from adapters.dashscope_image import DashScopeImage
from sandbox.server import Sandbox
from tests.adapters.making import PNG, connection_to, image_request, stored
from tests.adapters.test_dashscope_image import ASYNC, SYNC, target

adapter = DashScopeImage()


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(video_seconds=0.05) as running:
        yield running


@pytest.fixture
def connection(sandbox):
    base_url = f"{sandbox.url}/dashscope/api/v1"
    return connection_to(base_url, files={"one": PNG}, options={"poll_seconds": 0.2}, total_timeout=5.0)


def submitted(connection, mode="sync", **fields):
    return adapter.submit(adapter.build(image_request(**fields), target(mode)), connection)


def ended(connection, handle):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        (state,) = adapter.poll([handle], connection)
        if not isinstance(state, Pending):
            return state
        time.sleep(0.02)
    raise AssertionError("the job does not end")


def sizes_of(done, connection):
    found = []
    for output in done.outputs:
        with adapter.open_output(output, connection) as chunks:
            found.append(Image.open(io.BytesIO(b"".join(chunks))).size)
    return found


def kind_of(connection, mode="sync", **fields):
    with pytest.raises(UpstreamError) as caught:
        submitted(connection, mode, **fields)
    return caught.value.kind


def test_pictures_at_once(connection) -> None:
    images = (ImageRef(stored=stored()), ImageRef(url="https://x.example.com/a.png"))
    done = submitted(connection, n=2, aspect_ratio="16:9", images=images, extra_body={"seed": 1})
    assert sizes_of(done, connection) == [(1360, 768)] * 2


def test_pictures_as_a_job(connection) -> None:
    accepted = submitted(connection, "async", n=2)
    assert isinstance(accepted, Accepted)
    assert sizes_of(ended(connection, accepted.handle), connection) == [(1024, 1024)] * 2


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_partial_result(connection, mode) -> None:
    outcome = submitted(connection, mode, n=3, prompt=f"{mode} [partial]")
    done = outcome if isinstance(outcome, Done) else ended(connection, outcome.handle)
    assert len(done.outputs) == 2


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [("[fail]", ErrorKind.PROVIDER_FAILED), ("[moderated-output]", ErrorKind.CONTENT_POLICY)],
)
def test_a_job_that_ends_badly(connection, prompt, kind) -> None:
    assert ended(connection, submitted(connection, "async", prompt=prompt).handle).kind is kind


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("[moderated]", ErrorKind.CONTENT_POLICY),
        ("[rate-limited]", ErrorKind.RATE_LIMITED),
        ("[status=503]", ErrorKind.OVERLOADED),
        ("[garbage]", ErrorKind.AMBIGUOUS),
        ("[reset]", ErrorKind.AMBIGUOUS),
    ],
)
def test_refusals_and_losses_of_a_submission(connection, mode, prompt, kind) -> None:
    assert kind_of(connection, mode, prompt=prompt) is kind


@pytest.mark.parametrize(("key", "kind"), [("wrong", ErrorKind.AUTH), ("broke", ErrorKind.QUOTA_EXHAUSTED)])
def test_keys(connection, key, kind) -> None:
    other = replace(connection, credentials={"api_key": key})
    assert kind_of(other) is kind
    with pytest.raises(UpstreamError) as caught:
        adapter.probe(other)
    assert caught.value.kind is kind
    adapter.probe(connection)


def test_only_a_job_that_has_not_begun_is_cancelled(connection) -> None:
    waiting = submitted(connection, "async", prompt="[queued]").handle
    assert adapter.cancel(waiting, connection)
    assert ended(connection, waiting).code == "CANCELED"
    assert not adapter.cancel(waiting, connection)
    assert not adapter.cancel({"id": "no-such-job"}, connection)


def test_a_job_that_is_not_there(connection) -> None:
    assert ended(connection, {"id": "no-such-job"}).kind is ErrorKind.EMPTY_RESULT


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"parameters": {"n": 7}}, 400, "InvalidParameter"),
        ({"parameters": {"size": "1024x1024"}}, 400, "InvalidParameter"),
        ({"parameters": {"size": "4096*4096"}}, 400, "InvalidParameter"),
        ({"parameters": {"colour": "red"}}, 400, "InvalidParameter"),
        ({"prompt": "a fox"}, 400, "InvalidParameter"),
        ({"input": {"messages": []}}, 400, "InvalidParameter"),
        ({"input": {"messages": [{"role": "user", "content": [{"image": "x"}]}]}}, 400, "InvalidParameter"),
        ({"model": "no-such-model"}, 404, "ModelNotFound"),
    ],
)
def test_the_sandbox_is_strict(sandbox, changes, status, code) -> None:
    message = {"role": "user", "content": [{"text": "a fox"}]}
    body = {"model": "m", "input": {"messages": [message]}} | changes
    headers = {"Authorization": "Bearer any"}
    response = requests.post(f"{sandbox.url}/dashscope/api/v1{SYNC}", json=body, headers=headers, timeout=5)
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_each_path_has_its_own_way(sandbox) -> None:
    body = {"model": "m", "input": {"messages": [{"role": "user", "content": [{"text": "a fox"}]}]}}
    for path, more in ((ASYNC, {}), (SYNC, {"X-DashScope-Async": "enable"})):
        headers = {"Authorization": "Bearer any"} | more
        response = requests.post(f"{sandbox.url}/dashscope/api/v1{path}", json=body, headers=headers, timeout=5)
        assert (response.status_code, response.json()["code"]) == (403, "AccessDenied")
