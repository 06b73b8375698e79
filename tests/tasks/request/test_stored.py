"""How a request is kept as JSON and read back."""

import dataclasses
import json
import re
from typing import Any

import pytest

from adapters.base import ImageRef, StoredFile
from common.documents import Unreadable
from tasks.request.stored_params import dump, duration, load, load_to_buy, unstored, with_files
from tasks.request.values import UnstoredFile
from tests.tasks.request.param_requests import CONTENTS, data_url, image, media, parse, video

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


def test_a_mask_is_kept_behind_the_images_and_reads_back():
    parsed = parse("image", image(images=[{"image_url": url} for url in (data_url(), "https://a.example.com/")]))
    mask = UnstoredFile.of(CONTENTS["image/webp"], "image/webp")
    asked = dataclasses.replace(parsed, mask=ImageRef(stored=mask))
    assert unstored(asked) == [parsed.images[0].stored, mask]
    other = StoredFile(key="inputs/y", content_type="image/webp", size_bytes=16, sha256="1" * 64)
    kept = with_files(asked, [FILE, other])
    assert (kept.images, kept.mask) == ((ImageRef(stored=FILE), parsed.images[1]), ImageRef(stored=other))
    for each in (kept, dataclasses.replace(kept, mask=ImageRef(url="https://a.example.com/m"))):
        stored = json.loads(json.dumps(dump(each)))
        assert load("image", stored) == load_to_buy("image", stored) == each
    assert load("image", {"prompt": "a fox"}).mask is None


def test_a_missing_file_is_an_error_of_ours():
    parsed = parse("image", image(images=[{"image_url": data_url()}]))
    for request, files in ((parsed, []), (dataclasses.replace(parsed, mask=parsed.images[0]), [FILE])):
        with pytest.raises(RuntimeError):
            with_files(request, files)


MEDIA = {"type": "image", "role": "reference", "url": "https://a.example.com/"}
STORED = {"key": "blobs/x", "content_type": "image/png", "size_bytes": 16, "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("stored", "path"),
    [
        ({"prompt": "a fox", "mood": "blue"}, "params.mood"),
        ({"images": [{"image_url": "https://a.example.com/", "mask": {}}]}, "params.images[0].mask"),
        ({"images": [{"stored": STORED | {"codec": "x"}}]}, "params.images[0].stored.codec"),
        ({"mask": {"image_url": "https://a.example.com/", "alpha": 1}}, "params.mask.alpha"),
        ({"mask": {"stored": STORED | {"codec": "x"}}}, "params.mask.stored.codec"),
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


ODD = [{"images": {}}, {"images": [{}]}, {"images": ["x"]}, {"mask": "x"}, {"mask": {}}, {"inputs": [{"url": "x"}]}]


@pytest.mark.parametrize("stored", [None, [], {"n": "1"}, *ODD])
def test_what_does_not_fit_is_unreadable(stored: object):
    with pytest.raises(Unreadable):
        load("image", stored)
