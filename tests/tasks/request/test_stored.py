"""How a request is kept as JSON and read back."""

import json
from typing import Any

import pytest

from adapters.base import ImageRef, StoredFile
from tasks.request.stored_params import dump, load, unstored, with_files
from tests.tasks.request.param_requests import data_url, image, media, parse, video

FILE = StoredFile(key="blobs/x", content_type="image/png", size_bytes=16, sha256="0" * 64)


@pytest.mark.parametrize(
    ("modality", "given"),
    [
        ("image", image()),
        ("image", image(n=3, image_size="2K", extra_body={"a": [1]}, images=[{"image_url": "https://a.example.com/"}])),
        ("video", video()),
        ("video", video(generate_audio=False, inputs=[media(id="a"), media()], provider_options={"seed": 1})),
        ("3d", {"inputs": [media()], "output_format": "glb", "extra_body": {"rig": {}}}),
    ],
)
def test_what_is_stored_reads_back_as_the_same_request(modality: str, given: dict[str, Any]):
    request = parse(modality, given)
    assert load(modality, json.loads(json.dumps(dump(request)))) == request


def test_stored_files_take_the_places_of_the_data_urls():
    urls = [data_url(), "https://a.example.com/", data_url("image/gif")]
    parsed = parse("image", image(images=[{"image_url": url} for url in urls]))
    other = StoredFile(key="blobs/y", content_type="image/gif", size_bytes=14, sha256="1" * 64)
    kept = with_files(parsed, [FILE, other])
    assert kept.images == (ImageRef(stored=FILE), ImageRef(url=urls[1]), ImageRef(stored=other))
    assert dump(kept)["images"][0] == {
        "stored": {"key": "blobs/x", "content_type": "image/png", "size_bytes": 16, "sha256": "0" * 64}
    }
    assert load("image", json.loads(json.dumps(dump(kept)))) == kept
    assert unstored(kept) == []


def test_a_missing_file_is_an_error_of_ours():
    with pytest.raises(RuntimeError):
        with_files(parse("image", image(images=[{"image_url": data_url()}])), [])
