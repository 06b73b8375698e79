"""The Ark image protocol: what goes out, what its answers and refusals mean, and what it cannot express."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import responses

from adapters import expression
from adapters.ark.images_request import SIZES
from adapters.base import Billed, Done, ErrorKind, ImageRef, Target, TaskRequest, UpstreamError
from adapters.kit.sizes import pixels
from adapters.registry import ADAPTERS
from tests.adapters.making import API_KEY, PNG, connection_to, image_request, left_in, says_nothing_secret, stored
from tests.adapters.raw_server import answer, raw_server

adapter = ADAPTERS["ark_images"]
BASE = "https://ark.example.com/api/v3"
LINK = "https://tos.example.com/a.jpeg?X-Tos-Signature=1"
ENCODED = base64.b64encode(PNG).decode()
CALM = {"response_format": "url", "sequential_image_generation": "disabled", "watermark": False}


def target(**capabilities: Any) -> Target:
    return Target(adapter="ark_images", base_url=BASE, upstream_model="seedream-4", capabilities=capabilities)


def plain(**fields: Any) -> TaskRequest:
    """Without tier and ratio."""
    return image_request(**({"image_size": None, "aspect_ratio": None} | fields))


def fields_of(request: TaskRequest, **capabilities: Any) -> list[str]:
    return [problem.field for problem in expression.check(adapter, request, target(**capabilities))]


def size_of(request: TaskRequest, **capabilities: Any) -> Any:
    return adapter.build(request, target(**capabilities)).body.get("size")


UPSTREAM = adapter.build(image_request(), target())


def submit(status: int = 200, **reply: Any) -> Done:
    with responses.RequestsMock() as provider:
        provider.post(BASE + "/images/generations", status=status, **reply)
        done = adapter.submit(UPSTREAM, connection_to(BASE))
        assert len(provider.calls) == 1
    assert isinstance(done, Done)
    return done


def refused(status: int = 200, **reply: Any) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        submit(status, **reply)
    assert says_nothing_secret(caught.value)
    return caught.value


def spoken(code: str, message: str = "no") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "param": "", "type": "x"}}


def test_the_least_request_is_for_one_picture_without_a_watermark() -> None:
    upstream = adapter.build(plain(), target())
    assert upstream.path == "/images/generations"
    assert upstream.body == {"model": "seedream-4", "prompt": "a fox", **CALM}
    assert (upstream.billed, upstream.calls, upstream.files) == (Billed(count=1, tier=None), 1, ())


def test_everything_at_once_has_its_place() -> None:
    images = (ImageRef(url="https://x.example.com/a.png"), ImageRef(stored=stored()))
    extra = {"seed": 7, "watermark": True, "response_format": "b64_json", "output_format": "png"}
    request = image_request(n=4, image_size="2K", aspect_ratio="16:9", images=images, extra_body=extra)
    upstream = adapter.build(request, target())
    given, marked = upstream.body["image"]
    assert upstream.body == {"model": "seedream-4", "prompt": "a fox", "size": "2560x1440", **CALM, **extra} | {
        "image": [given, marked]
    }
    assert given == "https://x.example.com/a.png"
    assert [part.image for part in upstream.files] == [images[1]]
    assert (upstream.billed, upstream.calls) == (Billed(count=4, tier="2K"), 4)


def test_a_tier_is_a_word_and_with_a_ratio_pixels() -> None:
    for tier, ratio, size in [
        ("2K", None, "2K"),
        ("3K", None, "3K"),
        ("1K", "1:1", "1024x1024"),
        ("2K", "3:4", "1728x2304"),
        ("3K", "9:16", "2304x4096"),
        ("4K", "2:3", "3328x4992"),
        (None, "1:1", "1024x1024"),
    ]:
        assert size_of(plain(image_size=tier, aspect_ratio=ratio)) == size, (ratio, size)


def test_every_size_is_in_the_bounds_of_its_models_and_of_its_ratio() -> None:
    for tier, least, most in [
        ("1K", 1024 * 1024, 2048 * 2048),
        ("2K", 2560 * 1440, 2048 * 2048),
        ("3K", 2560 * 1440, 3072 * 3072),
        ("4K", 2560 * 1440, 4096 * 4096),
    ]:
        for ratio, size in SIZES[tier].items():
            width, height = map(int, size.split("x"))
            across, down = map(int, ratio.split(":"))
            assert least <= (pixels(size) or 0) <= most, (least, most)
            assert width * down == pytest.approx(height * across, rel=0.001), (least, most)


def test_a_size_table_of_the_capabilities_replaces_the_protocols() -> None:
    table = {"2K": {"1:1": "2000x2000"}}
    assert size_of(image_request(image_size="2K"), size_table=table) == "2000x2000"
    assert fields_of(image_request(image_size="4K"), size_table=table) == ["params.image_size"]
    assert fields_of(plain(image_size="4K"), size_table=table) == ["params.image_size"]
    assert fields_of(plain(image_size="S"), size_table={"S": {"1:1": "900x900"}}) == ["params.image_size"]


def test_a_ratio_alone_takes_the_first_tier_of_the_capabilities() -> None:
    assert size_of(plain(aspect_ratio="1:1"), tiers=["2K", "4K"]) == "2048x2048"


def test_a_size_of_extra_body_wins_and_is_billed() -> None:
    for size, tier in [
        ("4K", "4K"),
        ("2048x2048", "2K"),
        ("1280x720", "1K"),
        ("4000x4000", "4K"),
        ("5000x5000", None),
        (7, None),
    ]:
        upstream = adapter.build(image_request(n=2, extra_body={"size": size}), target())
        assert (upstream.body["size"], upstream.billed) == (size, Billed(count=2, tier=tier)), size


def test_an_image_of_extra_body_replaces_the_references() -> None:
    request = image_request(images=(ImageRef(stored=stored()),), extra_body={"image": "asset://1"})
    upstream = adapter.build(request, target())
    assert (upstream.body["image"], upstream.files) == ("asset://1", ())


EXTRA = "params.extra_body"


def test_what_cannot_be_expressed_names_its_field() -> None:
    for changes, capabilities, field in [
        ({"image_size": "0.5K"}, {}, "params.image_size"),
        ({"image_size": "0.5K", "aspect_ratio": None}, {}, "params.image_size"),
        ({"image_size": "4K"}, {"tiers": ["1K", "2K"]}, "params.image_size"),
        ({"image_size": "4K", "aspect_ratio": None}, {"tiers": ["1K"]}, "params.image_size"),
        ({"aspect_ratio": "8:1"}, {}, "params.aspect_ratio"),
        ({"aspect_ratio": "21:9"}, {"ratios": ["1:1"]}, "params.aspect_ratio"),
        ({"aspect_ratio": "8:1"}, {"ratios": ["8:1"]}, "params.aspect_ratio"),
        ({"n": 11}, {}, "params.n"),
        ({"images": (ImageRef(url="https://x.example.com/"),) * 15}, {}, "params.images"),
        ({"images": (ImageRef(stored=stored(content_type="image/gif")),)}, {}, "params.images[0].image_url"),
        ({"extra_body": {"model": "dearest"}}, {}, f"{EXTRA}.model"),
        ({"extra_body": {"stream": True}}, {}, f"{EXTRA}.stream"),
        ({"extra_body": {"callback_url": "https://x.example.com/"}}, {}, f"{EXTRA}.callback_url"),
        ({"extra_body": {"n": 2}}, {}, f"{EXTRA}.n"),
        ({"extra_body": {"max_images": 2}}, {}, f"{EXTRA}.max_images"),
        ({"extra_body": {"sequential_image_generation": "auto"}}, {}, f"{EXTRA}.sequential_image_generation"),
        (
            {"extra_body": {"sequential_image_generation_options": {"max_images": 4}}},
            {},
            f"{EXTRA}.sequential_image_generation_options",
        ),
        ({"extra_body": {"layer_decomposition": True}}, {}, f"{EXTRA}.layer_decomposition"),
    ]:
        assert fields_of(image_request(**changes), **capabilities) == [field], (changes, capabilities)


def test_what_the_protocol_has_is_taken() -> None:
    for changes in [
        {"n": 10},
        {"images": (ImageRef(url="https://x.example.com/"),) * 14},
        {"image_size": "0.5K", "extra_body": {"size": "1024x1024"}},
        {"extra_body": {"sequential_image_generation": "disabled", "layer_decomposition": False}},
        {"extra_body": {"image": ["https://x.example.com/a.png"] * 14}},
    ]:
        assert fields_of(image_request(**changes)) == [], changes


def test_the_call_goes_out_once_with_our_pictures_as_data_urls(tmp_path: Path) -> None:
    upstream = adapter.build(image_request(images=(ImageRef(stored=stored()),)), target())
    with raw_server(answer(json.dumps({"data": [{"url": LINK}]}).encode())) as server:
        done = adapter.submit(upstream, connection_to(server.url, files={"one": PNG}, scratch_dir=tmp_path))
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /images/generations HTTP/1.1\r\n")
    assert f"Authorization: Bearer {API_KEY}".encode() in head
    assert json.loads(body)["image"] == f"data:image/png;base64,{ENCODED}"
    assert isinstance(done, Done)
    assert [output.url for output in done.outputs] == [LINK]
    assert left_in(tmp_path) == []


def test_base64_becomes_a_file() -> None:
    (output,) = submit(json={"data": [{"b64_json": ENCODED, "size": "8x8"}]}).outputs
    assert output.path
    assert output.path.read_bytes() == PNG
    output.path.unlink()


def test_an_error_among_pictures_leaves_the_pictures() -> None:
    done = submit(json={"data": [spoken("OutputImageSensitiveContentDetected"), {"url": LINK}]})
    assert [(output.index, output.url) for output in done.outputs] == [(0, LINK)]


def test_a_success_without_a_picture_is_read() -> None:
    for document, kind, code in [
        ({"data": [spoken("OutputImageSensitiveContentDetected")]}, ErrorKind.CONTENT_POLICY, None),
        ({"data": [spoken("InternalServiceError")]}, ErrorKind.EMPTY_RESULT, "InternalServiceError"),
        ({"data": [], **spoken("QuotaExceeded")}, ErrorKind.QUOTA_EXHAUSTED, "QuotaExceeded"),
        ({"data": []}, ErrorKind.EMPTY_RESULT, ""),
        ({"data": [None, {"error": 5}, {"url": None}], "error": "x"}, ErrorKind.EMPTY_RESULT, ""),
        ({"data": [{"url": "javascript:x"}]}, ErrorKind.EMPTY_RESULT, ""),
        (spoken("InputTextSensitiveContentDetected"), ErrorKind.CONTENT_POLICY, None),
        (spoken("InternalServiceError"), ErrorKind.AMBIGUOUS, "InternalServiceError"),
    ]:
        error = refused(json=document)
        assert (error.kind, error.http_status) == (kind, 200), (document, code)
        assert code is None or error.code == code, (document, code)


def test_errors() -> None:
    for status, code, kind in [
        (400, "OutputImageSensitiveContentDetected", ErrorKind.CONTENT_POLICY),
        (404, "ModelNotOpen", ErrorKind.MODEL_UNAVAILABLE),
        (403, "AccountOverdueError", ErrorKind.QUOTA_EXHAUSTED),
        (429, "ModelAccountIpmRateLimitExceeded", ErrorKind.RATE_LIMITED),
        (500, "InvalidParameter.OversizeImage", ErrorKind.INVALID_REQUEST),
    ]:
        error = refused(status, json=spoken(code))
        assert (error.kind, error.code, error.http_status) == (kind, code, status), (status, code)


def test_a_quoted_key_is_removed_from_errors() -> None:
    assert refused(401, json=spoken("AuthenticationError", f"bad key {API_KEY}")).message == "bad key ***"
    error = refused(json={"data": [spoken(API_KEY, f"bad key {API_KEY}")]})
    assert (error.code, error.message) == ("***", "bad key ***")


def test_a_probe_asks_for_a_job_that_there_is_not() -> None:
    for status, kind in [(404, None), (401, ErrorKind.AUTH), (500, ErrorKind.TRANSIENT)]:
        with responses.RequestsMock() as provider:
            provider.get(f"{BASE}/contents/generations/tasks/probe", status=status, json={})
            if kind is None:
                adapter.probe(connection_to(BASE))
                continue
            with pytest.raises(UpstreamError) as caught:
                adapter.probe(connection_to(BASE))
        assert caught.value.kind is kind, status
