"""How a request is kept as JSON and read back."""

import json
import re
from typing import Any

import pytest

from adapters.base import ImageRef, StoredFile
from common.documents import Unreadable
from tasks.request.stored_params import dump, duration, load, load_to_buy, unstored, with_files
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
    stored = json.loads(json.dumps(dump(request)))
    assert load(modality, stored) == load_to_buy(modality, stored) == request


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


MEDIA = {"type": "image", "role": "reference", "url": "https://a.example.com/"}
STORED = {"key": "blobs/x", "content_type": "image/png", "size_bytes": 16, "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("stored", "path"),
    [
        ({"prompt": "a fox", "mood": "blue"}, "params.mood"),
        ({"images": [{"image_url": "https://a.example.com/", "mask": {}}]}, "params.images[0].mask"),
        ({"images": [{"stored": STORED | {"codec": "x"}}]}, "params.images[0].stored.codec"),
        ({"inputs": [MEDIA, MEDIA | {"weight": 1}]}, "params.inputs[1].weight"),
    ],
)
def test_what_another_version_added_is_left_out_but_never_bought_without(stored: dict[str, Any], path: str):
    assert load("image", stored).modality == "image"
    with pytest.raises(Unreadable, match=re.escape(f"does not know {path}")):
        load_to_buy("image", stored)


def test_a_charge_needs_nothing_but_the_duration_of_a_request():
    assert [duration(stored) for stored in ({"duration": 5, "images": 7}, {"prompt": 7})] == [5, None]
    for stored in (None, {"duration": "5"}, {"duration": True}):
        with pytest.raises(Unreadable):
            duration(stored)


@pytest.mark.parametrize(
    "stored", [None, [], {"images": {}}, {"images": [{}]}, {"images": ["x"]}, {"inputs": [{"url": "x"}]}, {"n": "1"}]
)
def test_what_does_not_fit_is_unreadable(stored: object):
    with pytest.raises(Unreadable):
        load("image", stored)
