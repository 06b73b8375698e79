"""What an image request becomes upstream, what is billed for it, and what cannot be expressed."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adapters import expression
from adapters.base import Billed, ImageRef, TaskRequest
from adapters.kit.sizes import pixels, tier_of
from adapters.openai.images_request import SIZES
from adapters.registry import ADAPTERS
from tests.adapters.making import image_request, image_target, stored

adapter = ADAPTERS["openai_images"]


def fields(request: TaskRequest, **capabilities: Any) -> list[str]:
    return [problem.field for problem in expression.check(adapter, request, image_target(**capabilities))]


def billed(**extra: Any) -> Billed:
    return adapter.build(image_request(extra_body=extra), image_target()).billed


def test_a_generation_is_json_with_prompt_count_and_size() -> None:
    upstream = adapter.build(image_request(n=3, image_size="2K", aspect_ratio="16:9"), image_target())
    assert (upstream.path, upstream.encoding, upstream.files) == ("/images/generations", "json", ())
    assert upstream.body == {"model": "gpt-image-2", "prompt": "a fox", "n": 3, "size": "2720x1536"}
    assert upstream.billed == Billed(count=3, tier="2K")


def test_a_tier_and_a_ratio_have_a_size() -> None:
    for tier, ratio, size in [
        ("1K", "1:1", "1024x1024"),
        ("1K", "3:4", "880x1168"),
        ("2K", "9:16", "1536x2720"),
        ("2K", "4:5", "1824x2288"),
        ("4K", "21:9", "3824x1632"),
        ("4K", "2:3", "2336x3520"),
    ]:
        upstream = adapter.build(image_request(image_size=tier, aspect_ratio=ratio), image_target())
        assert upstream.body["size"] == size, (tier, ratio)


def test_every_size_suits_the_provider() -> None:
    for row in SIZES.values():
        for size in row.values():
            width, height = map(int, size.split("x"))
            assert width % 16 == height % 16 == 0, row
            assert max(width, height) <= 3840, row


def test_one_image_is_an_edit_with_one_file() -> None:
    image = ImageRef(stored=stored())
    upstream = adapter.build(image_request(images=(image,)), image_target())
    assert (upstream.path, upstream.encoding) == ("/images/edits", "multipart")
    assert [(part.field, part.image) for part in upstream.files] == [("image", image)]


def test_several_images_repeat_the_field_in_order() -> None:
    images = (ImageRef(stored=stored("a")), ImageRef(url="https://x.example.com/b.png"))
    upstream = adapter.build(image_request(images=images), image_target())
    assert [(part.field, part.image) for part in upstream.files] == [("image[]", images[0]), ("image[]", images[1])]


def test_extra_body_wins_over_derived_fields_but_not_over_the_model() -> None:
    extra = {"prompt": "a cat", "n": 2, "quality": "high", "model": "dearest"}
    upstream = adapter.build(image_request(extra_body=extra), image_target())
    assert upstream.body["prompt"] == "a cat"
    assert (upstream.body["n"], upstream.billed.count) == (2, 2)
    assert upstream.body["quality"] == "high"
    assert upstream.body["model"] == "gpt-image-2"


def test_images_of_extra_body_are_refused_since_a_form_takes_files() -> None:
    for name in ("image", "images", "image[]"):
        for images in [(), (ImageRef(stored=stored()),)]:
            (field,) = fields(image_request(images=images, extra_body={name: "https://x.example.com/a.png"}))
            assert field.startswith("params.extra_body"), name


def test_the_final_size_decides_the_billed_tier() -> None:
    for size, tier in [
        ("2048x2048", "2K"),
        ("1552x656", "1K"),
        ("1536x1024", "2K"),
        ("512x512", "1K"),
        ("4000x2000", "4K"),
        ("4096x2048", None),
        ("9999x9999", None),
        ("auto", None),
        ("1024X1024", None),
        ("0x100", None),
        (1024, None),
        (None, None),
    ]:
        assert billed(size=size) == Billed(count=1, tier=tier), size


@given(width=st.integers(16, 5000), height=st.integers(16, 5000))
def test_a_billed_tier_covers_the_pixels_and_no_smaller_one_does(width: int, height: int) -> None:
    size = f"{width}x{height}"
    tier = tier_of(size, SIZES)
    if any(size in row.values() for row in SIZES.values()):
        assert tier is not None
        return
    covering = [name for name in ("1K", "2K", "4K") if max(map(pixels, SIZES[name].values())) >= width * height]
    assert tier == (covering[0] if covering else None)


def test_without_tier_and_ratio_the_provider_chooses_and_no_tier_is_billed() -> None:
    upstream = adapter.build(image_request(image_size=None, aspect_ratio=None), image_target())
    assert "size" not in upstream.body
    assert upstream.billed == Billed(count=1, tier=None)


def test_a_ratio_alone_takes_the_smallest_tier() -> None:
    upstream = adapter.build(image_request(image_size=None, aspect_ratio="16:9"), image_target())
    assert (upstream.body["size"], upstream.billed.tier) == ("1360x768", "1K")


def test_a_ratio_alone_takes_the_first_tier_of_the_capabilities() -> None:
    upstream = adapter.build(image_request(image_size=None, aspect_ratio="1:1"), image_target(tiers=["2K", "1K"]))
    assert (upstream.body["size"], upstream.billed.tier) == ("2048x2048", "2K")


def test_a_size_table_of_the_capabilities_replaces_the_protocols() -> None:
    target = image_target(size_table={"0.5K": {"1:1": "512x512"}, "1K": {"1:1": "1024x1024"}})
    upstream = adapter.build(image_request(image_size="0.5K"), target)
    assert (upstream.body["size"], upstream.billed.tier) == ("512x512", "0.5K")
    assert fields(image_request(image_size="2K"), **target.capabilities) == ["params.image_size"]


def test_tiers_that_share_a_size_are_billed_as_asked() -> None:
    target = image_target(size_table={"1K": {"1:1": "1024x1024"}, "2K": {"1:1": "1024x1024"}})
    assert adapter.build(image_request(image_size="2K"), target).billed.tier == "2K"


def test_what_cannot_be_expressed_names_its_field() -> None:
    for changes, capabilities, field in [
        ({"image_size": "0.5K"}, {}, "params.image_size"),
        ({"image_size": "3K"}, {}, "params.image_size"),
        ({"image_size": "4K"}, {"tiers": ["1K", "2K"]}, "params.image_size"),
        ({"aspect_ratio": "8:1"}, {}, "params.aspect_ratio"),
        ({"aspect_ratio": "21:9"}, {"ratios": ["1:1"]}, "params.aspect_ratio"),
        ({"n": 11}, {}, "params.n"),
        ({"n": 3}, {"max_n": 2}, "params.n"),
        ({"n": 11}, {"max_n": 20}, "params.n"),
        ({"prompt": "x" * 11}, {"prompt_max": 10}, "params.prompt"),
        ({"images": (ImageRef(url="https://x.example.com/"),) * 17}, {}, "params.images"),
        ({"images": (ImageRef(url="https://x.example.com/"),)}, {"max_images": 0}, "params.images"),
        ({"images": (ImageRef(stored=stored(content_type="image/gif")),)}, {}, "params.images[0].image_url"),
        ({"images": (ImageRef(stored=stored()),)}, {"data_url": False}, "params.images[0].image_url"),
        ({"extra_body": {"n": 0}}, {}, "params.extra_body.n"),
        ({"extra_body": {"n": True}}, {}, "params.extra_body.n"),
        ({"extra_body": {"n": "2"}}, {}, "params.extra_body.n"),
        ({"extra_body": {"n": 11}}, {}, "params.extra_body.n"),
        ({"extra_body": {"model": "dearest"}}, {}, "params.extra_body.model"),
        ({"extra_body": {"stream": True}}, {}, "params.extra_body.stream"),
        ({"extra_body": {"webhook_url": "https://x.example.com/"}}, {}, "params.extra_body.webhook_url"),
    ]:
        assert fields(image_request(**changes), **capabilities) == [field], (changes, capabilities)


def test_a_form_takes_no_nested_extra_body() -> None:
    for value in [{"a": 1}, ["a"], None]:
        request = image_request(images=(ImageRef(stored=stored()),), extra_body={"style": value})
        assert fields(request) == ["params.extra_body.style"], value
        assert fields(image_request(extra_body={"style": value})) == [], value


def test_the_protocols_own_limits_are_reached() -> None:
    for changes in [{"n": 10}, {"images": (ImageRef(url="https://x.example.com/"),) * 16}, {}]:
        assert fields(image_request(**changes)) == [], changes


def test_a_size_of_extra_body_stands_for_a_tier_that_has_none() -> None:
    assert fields(image_request(image_size="3K", extra_body={"size": "3072x3072"})) == []
