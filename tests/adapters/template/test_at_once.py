"""Described providers that answer at once: base64, URLs, and what is no success."""

import base64
from pathlib import Path
from typing import Any

import pytest
import responses

from adapters.base import Done, ErrorKind, UpstreamError
from tests.adapters.making import PNG, image_request, says_nothing_secret, video_request
from tests.adapters.template.templates import AT_ONCE, BASE, adapter, connected, target_of

PLAIN = image_request(image_size=None, aspect_ratio=None)
LINK = "https://cdn.example.com/fox.png"
VIDEO = AT_ONCE | {
    "modalities": ["video"],
    "submit": {"path": "/draw", "body": {"prompt": "{prompt}"}},
    "result": {"outputs": ["film.url", "films[]"]},
}


@pytest.fixture
def provider() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


TEMPLATE = AT_ONCE | {"error": AT_ONCE["error"] | {"map": {"nsfw": "content_policy"}}}


def bought(folder: Path | None = None) -> Done:
    upstream = adapter.build(PLAIN, target_of(TEMPLATE))
    done = adapter.submit(upstream, connected(TEMPLATE, scratch_dir=folder))
    assert isinstance(done, Done)
    return done


def test_pictures_come_as_base64_and_as_urls(provider: responses.RequestsMock, tmp_path: Path) -> None:
    items = [{"b64": base64.b64encode(PNG).decode()}, {"url": LINK}, {}]
    provider.post(f"{BASE}/draw", json={"data": items})
    first, second = bought(tmp_path).outputs
    assert (first.index, first.kind, first.path and first.path.read_bytes()) == (0, "image", PNG)
    assert (second.index, second.kind, second.url) == (1, "image", LINK)


def test_a_film_may_come_at_once_too(provider: responses.RequestsMock) -> None:
    provider.post(f"{BASE}/draw", json={"film": {}, "films": ["https://cdn.example.com/f.mp4"]})
    fixed = {"durations": [5], "resolutions": ["720p"], "ratios": ["16:9"]}
    done = adapter.submit(adapter.build(video_request(), target_of(VIDEO, "video", **fixed)), connected(VIDEO))
    assert isinstance(done, Done)
    assert [(output.kind, output.url) for output in done.outputs] == [("video", "https://cdn.example.com/f.mp4")]


def test_an_answer_without_pictures(provider: responses.RequestsMock) -> None:
    for status, body, kind in [
        (200, {"data": []}, ErrorKind.EMPTY_RESULT),
        (200, {"data": [{"url": ""}]}, ErrorKind.EMPTY_RESULT),
        (200, {"error": {"code": "nsfw"}}, ErrorKind.CONTENT_POLICY),
        (400, {"error": {"code": "nsfw"}}, ErrorKind.CONTENT_POLICY),
        (400, {"error": {"message": "no"}}, ErrorKind.INVALID_REQUEST),
        (500, {"data": [{"url": LINK}]}, ErrorKind.AMBIGUOUS),
    ]:
        provider.reset()
        provider.post(f"{BASE}/draw", status=status, json=body)
        with pytest.raises(UpstreamError) as caught:
            bought()
        assert caught.value.kind is kind, (status, body)
        assert says_nothing_secret(caught.value), (status, body)
        assert len(provider.calls) == 1, (status, body)
