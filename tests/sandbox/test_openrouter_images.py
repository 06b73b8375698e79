"""OpenRouter's Images protocol over a socket: the adapter against the sandbox, and how strict the sandbox is."""

import io

import pytest
import requests
from PIL import Image

from adapters.base import ErrorKind, ImageRef, UpstreamError
from adapters.openrouter_images import OpenRouterImages
from sandbox.server import Sandbox
from tests.adapters.making import PNG, connection_to, image_request, left_in, stored
from tests.adapters.test_openrouter_images import target

adapter = OpenRouterImages()


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as running:
        yield running


@pytest.fixture
def connect(sandbox, tmp_path):
    def connected(key="any"):
        base_url = f"{sandbox.url}/openrouter/api/v1"
        credentials = {"api_key": key}
        return connection_to(base_url, files={"one": PNG}, credentials=credentials, scratch_dir=tmp_path)

    return connected


def submitted(connection, **fields):
    return adapter.submit(adapter.build(image_request(**fields), target()), connection)


def test_pictures_at_once(connect, tmp_path) -> None:
    images = (ImageRef(stored=stored()), ImageRef(url="https://x.example.com/a.png"))
    done = submitted(connect(), n=2, image_size="0.5K", aspect_ratio="2:1", images=images)
    pictures = [Image.open(io.BytesIO(output.path.read_bytes())) for output in done.outputs]
    assert [(picture.size, picture.format) for picture in pictures] == [((512, 256), "PNG")] * 2
    assert len(left_in(tmp_path)) == 2


def test_a_partial_result(connect) -> None:
    assert len(submitted(connect(), n=3, image_size="0.5K", prompt="[partial]").outputs) == 2


@pytest.mark.parametrize(
    ("prompt", "key", "kind"),
    [
        ("[moderated]", "any", ErrorKind.CONTENT_POLICY),
        ("[moderated-output]", "any", ErrorKind.CONTENT_POLICY),
        ("[rate-limited]", "any", ErrorKind.RATE_LIMITED),
        ("[status=524]", "any", ErrorKind.AMBIGUOUS),
        ("[status=529]", "any", ErrorKind.OVERLOADED),
        ("[fail]", "any", ErrorKind.INVALID_REQUEST),
        ("[garbage]", "any", ErrorKind.AMBIGUOUS),
        ("[reset]", "any", ErrorKind.AMBIGUOUS),
        ("a fox", "wrong", ErrorKind.AUTH),
        ("a fox", "broke", ErrorKind.QUOTA_EXHAUSTED),
    ],
)
def test_refusals_and_losses(connect, prompt, key, kind) -> None:
    with pytest.raises(UpstreamError) as caught:
        submitted(connect(key), prompt=prompt, image_size="0.5K")
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"n": 11}, 400),
        ({"resolution": "0.5K"}, 400),
        ({"aspect_ratio": "7:3"}, 400),
        ({"colour": "red"}, 400),
        ({"size": "512x512", "resolution": "512"}, 400),
        ({"input_references": ["https://x.example.com/a.png"]}, 400),
        ({"prompt": None}, 400),
        ({"model": "no-such-model"}, 404),
    ],
)
def test_the_sandbox_is_strict(sandbox, fields, status) -> None:
    response = requests.post(
        f"{sandbox.url}/openrouter/api/v1/images",
        json={"model": "m", "prompt": "a fox"} | fields,
        headers={"Authorization": "Bearer any"},
        timeout=5,
    )
    assert (response.status_code, response.json()["error"]["code"]) == (status, status)
