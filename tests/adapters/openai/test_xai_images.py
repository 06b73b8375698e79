"""The dialect `xai` of the OpenAI Images protocol: requests, bills, refusals and errors."""

import base64
from typing import Any

from adapters import expression
from adapters.base import Billed, Done, ErrorKind, ImageRef, Target
from adapters.openai.images import OpenAIImages
from adapters.openai.xai_request import RATIOS
from tests.adapters.making import API_KEY, PNG, connection_to, image_request, stored
from tests.adapters.posting import posted

BASE = "https://xai.example.com/v1"
ENCODED = base64.b64encode(PNG).decode()
DATA_URL = f"data:image/png;base64,{ENCODED}"
URL = "https://x.example.com/a.png"
WEBP = b"RIFF\n\x00\x00\x00WEBPVP8 "
adapter = OpenAIImages()


def target(**capabilities: Any) -> Target:
    return Target(
        adapter="openai_images",
        base_url=BASE,
        upstream_model="grok-imagine-image",
        capabilities=capabilities,
        options={"dialect": "xai"},
    )


def answered(answer: Any, status: int = 200, **fields: Any) -> Any:
    """What a submit makes of an answer."""
    upstream = adapter.build(image_request(**fields), target())
    connection = connection_to(BASE, files={"one": PNG, "mask": WEBP}, options={"dialect": "xai"})
    return posted(adapter, upstream, connection, status=status, answer=answer)


def test_the_least_request() -> None:
    upstream = adapter.build(image_request(image_size=None, aspect_ratio=None), target())
    assert (upstream.path, upstream.encoding, upstream.files) == ("/images/generations", "json", ())
    assert upstream.body == {
        "model": "grok-imagine-image",
        "prompt": "a fox",
        "n": 1,
        "response_format": "b64_json",
    }
    assert upstream.billed == Billed(count=1, tier=None)


def test_everything_of_a_generation() -> None:
    extra = {"quality": "medium", "response_format": "url", "user": "u"}
    upstream = adapter.build(image_request(n=3, image_size="2K", aspect_ratio="19.5:9", extra_body=extra), target())
    assert upstream.body == {
        "model": "grok-imagine-image",
        "prompt": "a fox",
        "n": 3,
        "resolution": "2k",
        "aspect_ratio": "19.5:9",
        **extra,
    }
    assert upstream.billed == Billed(count=3, tier="2K")


def test_an_edit_is_json_with_the_images_inside() -> None:
    for images, references in [
        ((ImageRef(url=URL),), {"image": {"url": URL, "type": "image_url"}}),
        ((ImageRef(stored=stored()),), {"image": {"url": DATA_URL, "type": "image_url"}}),
        (
            (ImageRef(url=URL), ImageRef(stored=stored())),
            {"images": [{"url": URL, "type": "image_url"}, {"url": DATA_URL, "type": "image_url"}]},
        ),
    ]:
        sent = answered({"data": [{"url": URL}]}, images=images)
        assert sent.body == {
            "model": "grok-imagine-image",
            "prompt": "a fox",
            "n": 1,
            "response_format": "b64_json",
            "resolution": "1k",
            "aspect_ratio": "1:1",
            **references,
        }, (images, references)
        assert sent.headers["Content-Type"] == "application/json", (images, references)
        assert adapter.build(image_request(images=images), target()).path == "/images/edits", (images, references)
        assert isinstance(sent.outcome, Done), (images, references)


def test_a_mask_stands_beside_the_images_it_is_not_one_of_them() -> None:
    mask = {"url": f"data:image/webp;base64,{base64.b64encode(WEBP).decode()}", "type": "image_url"}
    first, second = {"url": DATA_URL, "type": "image_url"}, {"url": URL, "type": "image_url"}
    for images, references in [
        ((ImageRef(stored=stored()),), {"image": first}),
        ((ImageRef(stored=stored()), ImageRef(url=URL)), {"images": [first, second]}),
    ]:
        sent = answered({"data": [{"url": URL}]}, images=images, mask=ImageRef(stored=stored("mask")))
        assert {name: sent.body.get(name) for name in ("image", "images", "mask")} == {
            "image": None,
            "images": None,
            "mask": mask,
            **references,
        }
        assert isinstance(sent.outcome, Done)


def test_images_of_extra_body_replace_ours() -> None:
    given = {"url": "https://x.example.com/b.png"}
    upstream = adapter.build(image_request(images=(ImageRef(stored=stored()),), extra_body={"image": given}), target())
    assert (upstream.path, upstream.body["image"], upstream.files) == ("/images/edits", given, ())


def test_what_extra_body_stands_for_is_not_judged() -> None:
    gif = (ImageRef(stored=stored(content_type="image/gif")),)
    for changes in [
        {"image_size": "4K", "extra_body": {"resolution": "2k"}},
        {"aspect_ratio": "21:9", "extra_body": {"aspect_ratio": "1:1"}},
        {"images": gif, "extra_body": {"image": {"url": URL}}},
    ]:
        request = image_request(**changes)
        assert expression.check(adapter, request, target()) == [], changes
        assert adapter.build(request, target()).files == (), changes


def test_the_final_resolution_decides_the_billed_tier() -> None:
    for resolution, tier in [("2k", "2K"), ("1k", "1K"), ("8k", None), (["1k"], None)]:
        upstream = adapter.build(image_request(extra_body={"resolution": resolution, "n": 2}), target())
        assert upstream.billed == Billed(count=2, tier=tier), resolution


def test_the_ratios_are_those_of_the_sdk() -> None:
    assert set(RATIOS) == {
        *("1:1", "3:4", "4:3", "9:16", "16:9", "2:3", "3:2", "9:19.5", "19.5:9", "9:20", "20:9", "1:2", "2:1")
    }


def test_what_cannot_be_expressed_names_its_field() -> None:
    for changes, capabilities, field in [
        ({"image_size": "4K"}, {}, "params.image_size"),
        ({"image_size": None}, {"tiers": ["4K"]}, "params.image_size"),
        ({"aspect_ratio": "21:9"}, {}, "params.aspect_ratio"),
        ({"n": 11}, {}, "params.n"),
        ({"images": (ImageRef(url=URL),) * 6}, {}, "params.images"),
        ({"images": (ImageRef(stored=stored(content_type="image/gif")),)}, {}, "params.images[0].image_url"),
        ({"extra_body": {"size": "1024x1024"}}, {}, "params.extra_body.size"),
        ({"extra_body": {"model": "dearest"}}, {}, "params.extra_body.model"),
        ({"extra_body": {"stream": True}}, {}, "params.extra_body.stream"),
    ]:
        problems = expression.check(adapter, image_request(**changes), target(**capabilities))
        assert [problem.field for problem in problems] == [field], (changes, capabilities)


def test_what_can_be_expressed_passes() -> None:
    request = image_request(n=10, images=(ImageRef(url=URL),) * 5, extra_body={"response_format": "url"})
    assert expression.check(adapter, request, target()) == []
    assert adapter.validate(target(tiers=["1K"])) == []


def test_pictures_that_moderation_stopped_are_left_out() -> None:
    items = [{"url": "", "respect_moderation": False}, {"b64_json": ENCODED, "respect_moderation": True}, {"url": URL}]
    (first, second) = answered({"data": items}).outcome.outputs
    assert (first.index, first.path.read_bytes(), second.url) == (0, PNG, URL)
    first.path.unlink()


def test_where_moderation_stopped_all_of_them_the_content_is_refused() -> None:
    error = answered({"data": [{"b64_json": ENCODED, "respect_moderation": False}] * 2}).outcome
    assert (error.kind, error.code) == (ErrorKind.CONTENT_POLICY, "respect_moderation")


INVALID = "Client specified an invalid argument"
EXHAUSTED = "Some resource has been exhausted"


def test_errors() -> None:
    for status, answer, kind in [
        (400, {"code": INVALID, "error": "n is too large."}, ErrorKind.INVALID_REQUEST),
        (400, {"code": INVALID, "error": 'No image of "invalid API key".'}, ErrorKind.INVALID_REQUEST),
        (400, {"code": INVALID, "error": f"Incorrect API key provided: {API_KEY}."}, ErrorKind.AUTH),
        (400, {"error": "Generated image rejected by content moderation."}, ErrorKind.CONTENT_POLICY),
        (403, {"code": "x", "error": "Content violates usage guidelines."}, ErrorKind.CONTENT_POLICY),
        (400, {"code": "imagine:content-moderated", "error": "Rejected."}, ErrorKind.CONTENT_POLICY),
        (403, {"code": "permission-denied", "error": "no"}, ErrorKind.FORBIDDEN),
        (
            403,
            {"code": "permission-denied", "error": "Your newly created teams doesn't have any credits or licenses yet"},
            ErrorKind.QUOTA_EXHAUSTED,
        ),
        (401, {"code": "unauthenticated:blocked", "error": "Your API key is currently blocked."}, ErrorKind.AUTH),
        (403, {"code": "x", "error": "Your team has used all available credits."}, ErrorKind.QUOTA_EXHAUSTED),
        (429, {"code": EXHAUSTED, "error": "Your team 1 reached its spending limit"}, ErrorKind.QUOTA_EXHAUSTED),
        (429, {"code": EXHAUSTED, "error": "Too many requests"}, ErrorKind.RATE_LIMITED),
        (401, {"error": {"message": "no", "code": "unauthenticated"}}, ErrorKind.AUTH),
        (404, {"code": "Some requested entity was not found", "error": "no model"}, ErrorKind.MODEL_UNAVAILABLE),
        (409, {"error": "Your team has used all available credits."}, ErrorKind.AMBIGUOUS),
        (500, {"error": "Your team has no credits"}, ErrorKind.AMBIGUOUS),
        (503, {"code": "The service is currently unavailable", "error": "x"}, ErrorKind.OVERLOADED),
        (200, {"code": INVALID, "error": "Rejected by content moderation."}, ErrorKind.CONTENT_POLICY),
        (200, {"data": []}, ErrorKind.EMPTY_RESULT),
    ]:
        assert answered(answer, status).outcome.kind is kind, (status, answer)
