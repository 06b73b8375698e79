"""OpenRouter's Images protocol: what goes out, what is billed, what is refused, and what its errors mean."""

import base64
from typing import Any

import pytest
import responses

from adapters import expression
from adapters.base import Billed, Done, ErrorKind, ImageRef, Target, UpstreamError
from adapters.openrouter.images import OpenRouterImages
from tests.adapters.making import API_KEY, PNG, connection_to, image_request, stored
from tests.adapters.posting import posted

BASE = "https://openrouter.example.com/api/v1"
ENCODED = base64.b64encode(PNG).decode()
adapter = OpenRouterImages()


def target(**capabilities: Any) -> Target:
    return Target(adapter="openrouter_images", base_url=BASE, upstream_model="google/gemini", capabilities=capabilities)


def body_of(**fields: Any) -> dict[str, Any]:
    return dict(adapter.build(image_request(**fields), target()).body)


def billed(**fields: Any) -> Billed:
    return adapter.build(image_request(**fields), target()).billed


def answered(answer: Any, status: int = 200) -> Any:
    """What a submit makes of an answer."""
    return posted(adapter, adapter.build(image_request(), target()), connection_to(BASE), status=status, answer=answer)


def test_the_least_request() -> None:
    upstream = adapter.build(image_request(image_size=None, aspect_ratio=None), target())
    assert (upstream.path, upstream.files, upstream.calls) == ("/images", (), 1)
    assert upstream.body == {"model": "google/gemini", "prompt": "a fox", "n": 1}
    assert upstream.billed == Billed(count=1, tier=None)


def test_everything_at_once() -> None:
    url = "https://x.example.com/a.png"
    images = (ImageRef(stored=stored("a")), ImageRef(url=url), ImageRef(stored=stored("b", "image/webp")))
    extra = {"quality": "high", "seed": 7, "provider": {"only": ["google"]}}
    request = image_request(n=3, image_size="2K", aspect_ratio="21:9", images=images, extra_body=extra)
    upstream = adapter.build(request, target())
    assert [part.image for part in upstream.files] == [images[0], images[2]]
    connection = connection_to(BASE, files={"a": PNG, "b": PNG})
    sent = posted(adapter, upstream, connection, answer={"data": [{"b64_json": ENCODED}]})
    data_url = f"data:image/png;base64,{ENCODED}"
    assert sent.body == {
        "model": "google/gemini",
        "prompt": "a fox",
        "n": 3,
        "resolution": "2K",
        "aspect_ratio": "21:9",
        "input_references": [{"type": "image_url", "image_url": {"url": link}} for link in (data_url, url, data_url)],
        **extra,
    }
    assert upstream.billed == Billed(count=3, tier="2K")
    assert isinstance(sent.outcome, Done)
    sent.outcome.outputs[0].path.unlink()


def test_tiers_have_names() -> None:
    for tier, name in [("0.5K", "512"), ("1K", "1K"), ("1.5K", "1.5K"), ("2K", "2K"), ("4K", "4K")]:
        assert (body_of(image_size=tier)["resolution"], billed(image_size=tier).tier) == (name, tier), name


def test_a_ratio_alone_takes_a_tier_that_can_be_billed() -> None:
    assert body_of(image_size=None, aspect_ratio="16:9")["resolution"] == "1K"
    upstream = adapter.build(image_request(image_size=None, aspect_ratio="16:9"), target(tiers=["2K", "1K"]))
    assert (upstream.body["resolution"], upstream.billed.tier) == ("2K", "2K")


def test_a_size_of_extra_body_is_billed_and_stands_alone() -> None:
    for extra, tier, left in [
        ({"size": "2048x1024"}, "1.5K", set()),
        ({"size": "2K"}, "2K", {"aspect_ratio"}),
        ({"size": "512"}, "0.5K", {"aspect_ratio"}),
        ({"size": "9000x9000"}, None, set()),
        ({"resolution": "4K"}, "4K", {"aspect_ratio", "resolution"}),
        ({"resolution": "8K"}, None, {"aspect_ratio", "resolution"}),
        ({"resolution": ["4K"]}, None, {"aspect_ratio", "resolution"}),
    ]:
        assert billed(extra_body=extra).tier == tier, extra
        assert set(body_of(extra_body=extra)) & {"aspect_ratio", "resolution"} == left, extra


def test_what_extra_body_stands_for_is_not_judged() -> None:
    gif = (ImageRef(stored=stored(content_type="image/gif")),)
    for changes in [
        {"image_size": "8K", "extra_body": {"size": "1024x1024"}},
        {"image_size": "8K", "extra_body": {"resolution": "4K"}},
        {"aspect_ratio": "7:3", "extra_body": {"aspect_ratio": "1:1"}},
        {"images": gif, "extra_body": {"input_references": []}},
    ]:
        request = image_request(**changes)
        assert expression.check(adapter, request, target()) == [], changes
        assert adapter.build(request, target()).files == (), changes


def test_references_of_extra_body_replace_the_images() -> None:
    given = [{"type": "image_url", "image_url": {"url": "https://x.example.com/b.png"}}]
    request = image_request(images=(ImageRef(stored=stored()),), extra_body={"input_references": given})
    upstream = adapter.build(request, target())
    assert (upstream.body["input_references"], upstream.files) == (given, ())


def test_what_cannot_be_expressed_names_its_field() -> None:
    for changes, capabilities, field in [
        ({"image_size": "3K"}, {}, "params.image_size"),
        ({"image_size": "4K"}, {"tiers": ["1K"]}, "params.image_size"),
        ({"image_size": "3K"}, {"tiers": ["3K"]}, "params.image_size"),
        ({"image_size": None}, {"tiers": ["3K"]}, "params.image_size"),
        ({"aspect_ratio": "7:3"}, {}, "params.aspect_ratio"),
        ({"aspect_ratio": "21:9"}, {"ratios": ["1:1"]}, "params.aspect_ratio"),
        ({"n": 11}, {"max_n": 20}, "params.n"),
        ({"extra_body": {"n": "2"}}, {}, "params.extra_body.n"),
        ({"images": (ImageRef(url="https://x.example.com/"),) * 17}, {}, "params.images"),
        ({"images": (ImageRef(stored=stored(content_type="image/gif")),)}, {}, "params.images[0].image_url"),
        ({"extra_body": {"model": "dearest"}}, {}, "params.extra_body.model"),
        ({"extra_body": {"stream": False}}, {}, "params.extra_body.stream"),
        ({"extra_body": {"size": "512", "resolution": "4K"}}, {}, "params.extra_body.resolution"),
        ({"extra_body": {"provider": {"options": {}}}}, {}, "params.extra_body.provider.options"),
    ]:
        problems = expression.check(adapter, image_request(**changes), target(**capabilities))
        assert [problem.field for problem in problems] == [field], (changes, capabilities)


def test_what_can_be_expressed_passes() -> None:
    images = (ImageRef(url="https://x.example.com/a.png"), ImageRef(stored=stored()))
    assert expression.check(adapter, image_request(n=10, aspect_ratio="19.5:9", images=images), target()) == []


def test_fewer_pictures_than_asked_are_a_success() -> None:
    items = [{"b64_json": ENCODED, "media_type": "image/png"}, {"b64_json": ""}]
    sent = answered({"created": 1, "data": items, "usage": {"cost": 0.04}})
    done = sent.outcome
    assert [(output.index, output.kind) for output in done.outputs] == [(0, "image")]
    assert done.outputs[0].path.read_bytes() == PNG
    done.outputs[0].path.unlink()
    assert sent.headers["Authorization"] == f"Bearer {API_KEY}"
    assert sent.headers["Content-Type"] == "application/json"


def test_no_picture_at_all_is_an_empty_result() -> None:
    assert answered({"created": 1, "data": []}).outcome.kind is ErrorKind.EMPTY_RESULT


def test_errors() -> None:
    """All of them are tried with the videos, which ask the same table."""
    for status, code, kind in [
        (404, 404, ErrorKind.MODEL_UNAVAILABLE),
        (408, 408, ErrorKind.AMBIGUOUS),
        (400, 499, ErrorKind.AMBIGUOUS),
        (429, 408, ErrorKind.AMBIGUOUS),
        (200, 402, ErrorKind.QUOTA_EXHAUSTED),
        (500, 429, ErrorKind.RATE_LIMITED),
    ]:
        error = answered({"error": {"code": code, "message": f"no {API_KEY}"}}, status).outcome
        assert (error.kind, error.code, error.message) == (kind, str(code), "no ***"), (status, code)


def test_a_flagged_prompt_does_not_count_against_the_key() -> None:
    body = {"error": {"code": 403, "message": "no", "metadata": {"reasons": ["x"], "flagged_input": "a fox"}}}
    assert answered(body, 403).outcome.kind is ErrorKind.CONTENT_POLICY


def test_the_probe_needs_the_key_and_buys_nothing() -> None:
    with responses.RequestsMock() as provider:
        provider.get(f"{BASE}/key", status=401, json={"error": {"code": 401, "message": "no"}})
        with pytest.raises(UpstreamError) as caught:
            adapter.probe(connection_to(BASE))
    assert caught.value.kind is ErrorKind.AUTH
