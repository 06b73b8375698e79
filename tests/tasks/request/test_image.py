"""Image params: what is required, offered, bounded and refused."""

import hashlib
from typing import Any

import pytest

from adapters.base import ImageRef, TaskRequest
from tasks.request.values import UnstoredFile
from tests.tasks.request import param_requests
from tests.tasks.request.param_requests import CONTENTS, data_url, image, parse


def refusal(given: dict[str, Any], catalog: dict[str, Any] | None = None) -> str:
    return param_requests.refusal("image", given, catalog)


def test_the_models_defaults_fill_what_is_absent():
    assert parse("image", image()) == TaskRequest(
        modality="image", prompt="a fox", n=1, image_size="1K", aspect_ratio="1:1"
    )


def test_null_counts_as_absent():
    given = image(n=None, image_size=None, aspect_ratio=None, images=None, extra_body=None, model=None)
    assert parse("image", given) == parse("image", image())


def test_every_field_reaches_the_request_unchanged():
    given = image(prompt=" a fox\n", n=4, image_size="2K", aspect_ratio="16:9", extra_body={"quality": "high"})
    request = parse("image", given | {"images": [{"image_url": "https://cdn.example.com/a.png"}]})
    assert (request.prompt, request.n, request.image_size, request.aspect_ratio) == (" a fox\n", 4, "2K", "16:9")
    assert request.extra_body == {"quality": "high"}
    assert request.images == (ImageRef(url="https://cdn.example.com/a.png"),)


def test_a_prompt_up_to_its_limit_in_characters_is_accepted():
    for prompt in ("x", "é" * 32_000):
        assert parse("image", image(prompt=prompt)).prompt == prompt


def test_n_is_accepted_from_one_to_the_models_maximum():
    assert [parse("image", image(n=n)).n for n in (1, 4)] == [1, 4]


NOT_OFFERED: list[Any] = ["8K", "", "1k", " 1K", 1, True, ["1K"], {}]
BAD: list[tuple[str, list[Any], str]] = [
    ("prompt", [None], "is required."),
    ("prompt", ["", "   ", "  \t\n", "\u3000"], "must not be blank."),
    ("prompt", [1, ["a"], {}, True], "must be a string."),
    ("prompt", ["x" * 32_001], "must be at most 32,000 characters long."),
    ("n", [0, -1, 5, 2**63 - 1, 1.0, 1.5, "1", True, False, [1], {}], "must be an integer from 1 to 4."),
    ("image_size", NOT_OFFERED, "must be one of 1K, 2K."),
    ("aspect_ratio", NOT_OFFERED, "must be one of 1:1, 16:9."),
    *((name, ["x"], "is not supported.") for name in ("style", "N", "provider_options")),
    ("size", ["1024x1024"], "is not supported; use params.image_size and params.aspect_ratio."),
    ("resolution", ["720p"], "is not supported; use params.image_size."),
    ("contents", [[]], "is not supported; use params.prompt and params.images."),
    ("generationConfig", [None], "is not supported; use the portable fields or params.extra_body."),
]


def test_a_bad_field_is_refused_by_name():
    for name, values, reason in BAD:
        for value in values:
            assert refusal(image(**{name: value})) == f"params.{name} {reason}", value
    assert refusal(image(**{"": None})) == 'params[""] is not supported.'


def test_a_model_without_an_offer_takes_one_image_and_no_choice():
    assert parse("image", image(n=1, images=[]), {}) == TaskRequest(modality="image", prompt="a fox")
    assert refusal(image(n=2), {}).startswith("params.n ")
    assert refusal(image(image_size="1K"), {}) == "params.image_size is not supported by this model."
    assert refusal(image(aspect_ratio="1:1"), {}) == "params.aspect_ratio is not supported by this model."
    assert refusal(image(images=[{"image_url": data_url()}]), {}) == "params.images is not supported by this model."


def test_a_choice_without_a_default_is_required():
    catalog = {"image_size": {"values": ["1K", "2K"]}}
    assert refusal(image(), catalog) == "params.image_size is required."
    assert parse("image", image(image_size="2K"), catalog).image_size == "2K"


@pytest.mark.parametrize("modality", ["image", "video", "3d"])
def test_a_model_in_params_must_be_that_of_the_top_level(modality: str):
    given = {"prompt": "p", "duration": 1, "resolution": "r", "aspect_ratio": "a"}
    for model in ("other", "", "AURORA", 1, ["aurora"]):
        assert param_requests.refusal(modality, given | {"model": model}).startswith("params.model "), model


def test_the_same_model_in_params_is_accepted():
    assert parse("image", image(model="aurora")) == parse("image", image())


BAD_IMAGES: list[tuple[object, str]] = [
    ({}, "params.images"),
    ("x", "params.images"),
    ([{"image_url": "https://a.example.com/"}] * 4, "params.images"),
    (["https://a.example.com/"], "params.images[0]"),
    ([None], "params.images[0]"),
    ([{}], "params.images[0].image_url"),
    ([{"image_url": None}], "params.images[0].image_url"),
    ([{"image_url": {"url": "https://a.example.com/"}}], "params.images[0].image_url"),
    ([{"image_url": "https://a.example.com/", "detail": "high"}], "params.images[0].detail"),
    ([{"image_url": "https://a.example.com/"}, {"image_url": "http://10.0.0.1/"}], "params.images[1].image_url"),
]


def test_bad_images_are_refused_by_path():
    for images, path in BAD_IMAGES:
        assert refusal(image(images=images)).startswith(f"{path} "), images


@pytest.mark.parametrize("content_type", CONTENTS)
def test_a_data_url_becomes_a_file_without_a_key(content_type: str):
    url = data_url(content_type).replace("data:image", "DATA:Image")
    _, given = parse("image", image(images=[{"image_url": "https://a.example.com/"}, {"image_url": url}])).images
    content = CONTENTS[content_type]
    assert given.stored == UnstoredFile(
        key="",
        content_type=content_type,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        content=content,
    )


@pytest.mark.parametrize(
    ("alias", "meant"), [("image/jpg", "image/jpeg"), ("Image/PJPEG", "image/jpeg"), ("image/x-png", "image/png")]
)
def test_a_type_by_another_name_is_stored_under_its_own(alias: str, meant: str):
    (given,) = parse("image", image(images=[{"image_url": data_url(meant).replace(meant, alias)}])).images
    assert (given.stored.content_type, given.stored.content) == (meant, CONTENTS[meant])


PNG = data_url()
NOT_STRICT = [
    "data:",
    "data:,hello",
    "data:image/png,abc",
    "data:image/png;base64,",
    "data:image/png;base64,AAAA",
    "data:image/png;charset=utf-8;base64," + PNG.partition(",")[2],
    "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=",
    "data:text/html;base64,PGI+",
    "data:image/bmp;base64,Qk0=",
    "data:;base64,AAAA",
    PNG + "=",
    PNG + "====",
    PNG.rstrip("="),
    PNG[:-4] + "\n" + PNG[-4:],
    PNG + " ",
    PNG.replace("iVBOR", "iVB OR"),
    PNG.replace("/", "_").replace("iVBORw0", "iVBORw-"),
    PNG + "é",
    PNG.replace("iVBOR", "iVB%4FR"),
    data_url("image/jpeg").replace("image/jpeg", "image/png"),
    data_url("image/png").replace("image/png", "image/gif"),
    data_url("image/png").replace("image/png", "image/jpg"),
    data_url("image/webp", b"RIFF\x00\x00\x00\x00WAVEfmt "),
    data_url("image/gif", b"GIF88a"),
    data_url("image/jpeg", b"\xff\xd8"),
]


def test_a_data_url_that_is_not_strict_is_refused():
    for url in NOT_STRICT:
        assert refusal(image(images=[{"image_url": url}])).startswith("params.images[0].image_url "), url


def test_a_data_url_whose_unused_bits_are_set_is_refused():
    url = data_url("image/png", CONTENTS["image/png"][:13])
    assert url.endswith("AA==")
    parse("image", image(images=[{"image_url": url}]))
    assert "strict base64" in refusal(image(images=[{"image_url": url[:-3] + "B=="}]))


@pytest.mark.parametrize("surplus", ["=", "==", "====", "AA"])
def test_a_data_url_of_whole_groups_takes_no_padding(surplus):
    url = data_url("image/png", CONTENTS["image/png"][:12])
    assert not url.endswith("=")
    parse("image", image(images=[{"image_url": url}]))
    assert "strict base64" in refusal(image(images=[{"image_url": url + surplus}]))


def test_no_refusal_repeats_what_was_sent():
    assert "hunter2" not in refusal(image(images=[{"image_url": "https://user:hunter2@a.example.com/"}]))


def test_extra_body_may_not_raise_the_count_over_the_maximum():
    assert refusal(image(extra_body={"n": 5})) == "params.extra_body.n must be at most 4."
    assert parse("image", image(extra_body={"n": 4})).extra_body == {"n": 4}
