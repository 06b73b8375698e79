"""xAI's Images protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import io

import pytest
import requests
from PIL import Image

from adapters.base import ErrorKind, ImageRef, UpstreamError
from adapters.openai_images import OpenAIImages
from sandbox.server import Sandbox
from tests.adapters.making import PNG, connection_to, image_request, stored
from tests.adapters.test_xai_images import target

adapter = OpenAIImages()


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as running:
        yield running


@pytest.fixture
def connect(sandbox, tmp_path):
    def connected(key="any"):
        more = {"credentials": {"api_key": key}, "options": {"dialect": "xai"}, "scratch_dir": tmp_path}
        return connection_to(f"{sandbox.url}/xai/v1", files={"one": PNG}, **more)

    return connected


def submitted(connection, **fields):
    return adapter.submit(adapter.build(image_request(**fields), target()), connection)


def pictures_of(done, connection):
    for output in done.outputs:
        with adapter.open_output(output, connection) as chunks:
            yield Image.open(io.BytesIO(b"".join(chunks))).size


@pytest.mark.parametrize("images", [(), (ImageRef(stored=stored()),), (ImageRef(stored=stored()),) * 2])
@pytest.mark.parametrize("prompt", ["a fox", "a fox [url]"])
def test_pictures_at_once(connect, images, prompt) -> None:
    connection = connect()
    done = submitted(connection, aspect_ratio="2:1", images=images, prompt=prompt)
    assert list(pictures_of(done, connection)) == [(1024, 512)]


def test_a_partial_result(connect) -> None:
    assert len(submitted(connect(), n=3, prompt="[partial]").outputs) == 2


@pytest.mark.parametrize(
    ("prompt", "key", "kind"),
    [
        ("[moderated]", "any", ErrorKind.CONTENT_POLICY),
        ("[moderated-output]", "any", ErrorKind.CONTENT_POLICY),
        ("[rate-limited]", "any", ErrorKind.RATE_LIMITED),
        ("[status=500]", "any", ErrorKind.AMBIGUOUS),
        ("[fail]", "any", ErrorKind.INVALID_REQUEST),
        ("[garbage]", "any", ErrorKind.AMBIGUOUS),
        ("a fox", "wrong", ErrorKind.AUTH),
        ("a fox", "broke", ErrorKind.QUOTA_EXHAUSTED),
    ],
)
def test_refusals_and_losses(connect, prompt, key, kind) -> None:
    with pytest.raises(UpstreamError) as caught:
        submitted(connect(key), prompt=prompt)
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("generations", {"size": "1024x1024"}, 400),
        ("generations", {"resolution": "2K"}, 400),
        ("generations", {"image": {"url": "https://x.example.com/a.png"}}, 400),
        ("edits", {}, 400),
        ("edits", {"image": "https://x.example.com/a.png"}, 400),
        ("edits", {"image": {"url": "https://x.example.com/a.png"}, "images": []}, 400),
        ("generations", {"model": "no-such-model"}, 404),
    ],
)
def test_the_sandbox_is_strict(sandbox, path, fields, status) -> None:
    response = requests.post(
        f"{sandbox.url}/xai/v1/images/{path}",
        json={"model": "m", "prompt": "a fox"} | fields,
        headers={"Authorization": "Bearer any"},
        timeout=5,
    )
    assert response.status_code == status
    assert response.json().keys() == {"code", "error"}
