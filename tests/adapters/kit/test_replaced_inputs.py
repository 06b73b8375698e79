"""What stands for a portable input in `extra_body` is checked as that input is."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from adapters import expression, registry
from adapters.base import Target
from adapters.kit.replaced_inputs import InputRules
from tests.adapters.making import PNG, image_request, image_target

URL = "https://x.example.com/a.png"
DATA_URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
GIF = f"data:image/gif;base64,{base64.b64encode(b'GIF89a').decode()}"
XAI = replace(image_target(), options={"dialect": "xai"})
ARK, OPENROUTER = (replace(image_target(), adapter=name) for name in ("ark_images", "openrouter_images"))


def refused(target: Target, extra_body: dict[str, Any], **rules: Any) -> list[str]:
    request = image_request(extra_body=extra_body)
    adapter = registry.ADAPTERS[target.adapter]
    return [each.field for each in expression.check(adapter, request, target, InputRules(**rules))]


def wrapped(link: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": link}}


@pytest.mark.parametrize(
    ("target", "extra_body"),
    [
        (ARK, {"image": URL}),
        (ARK, {"image": [URL, DATA_URL]}),
        (XAI, {"image": {"url": URL, "type": "image_url"}}),
        (XAI, {"images": [{"url": DATA_URL}] * 5}),
        (OPENROUTER, {"input_references": [wrapped(URL), wrapped(DATA_URL)]}),
        (ARK, {"prompt": "an owl"}),
        (XAI, {"prompt": "an owl"}),
        (OPENROUTER, {"prompt": "an owl"}),
        (image_target(), {"prompt": "an owl"}),
    ],
)
def test_what_the_portable_input_may_be_passes(target: Target, extra_body: dict[str, Any]) -> None:
    assert refused(target, extra_body) == []


@pytest.mark.parametrize(
    ("target", "extra_body", "field"),
    [
        (ARK, {"image": [URL] * 15}, "image"),
        (XAI, {"images": [{"url": URL}] * 6}, "images"),
        (XAI, {"image": {"url": URL}, "images": [{"url": URL}] * 5}, "image"),
        (OPENROUTER, {"input_references": [wrapped(URL)] * 17}, "input_references"),
        (ARK, {"image": GIF}, "image"),
        (ARK, {"image": "data:image/png;base64,AAAA"}, "image"),
        (ARK, {"image": [URL, "data:image/png;base64,!"]}, "image[1]"),
        (OPENROUTER, {"input_references": [wrapped("data:text/plain,x")]}, "input_references[0].image_url.url"),
        (ARK, {"image": 7}, "image"),
        (ARK, {"image": [URL, None]}, "image"),
        (ARK, {"image": {"url": URL, "image_url": URL}}, "image"),
        (XAI, {"image": {"url": URL, "secretive": 1}}, "image"),
        (XAI, {"image": {"file_id": "file-1"}}, "image.file_id"),
        (XAI, {"images": [{"file_id": "file-1"}]}, "images[0].file_id"),
        (XAI, {"image": {"url": {"file_id": "file-1"}}}, "image"),
        (XAI, {"image": {"url": URL, "type": {"file_id": "file-1"}}}, "image"),
        (ARK, {"image": {"file_id": "file-1"}}, "image"),
        (OPENROUTER, {"input_references": [{"file_id": "file-1"}]}, "input_references"),
        (OPENROUTER, {"input_references": [{"image_url": {"file_id": "file-1"}}]}, "input_references"),
        (OPENROUTER, {"input_references": [{"type": "video_url", "video_url": {"url": URL}}]}, "input_references"),
        *((target, {"prompt": " "}, "prompt") for target in (ARK, XAI, OPENROUTER, image_target())),
    ],
)
def test_everything_else_rules_the_route_out(target: Target, extra_body: dict[str, Any], field: str) -> None:
    assert refused(target, extra_body) == [f"params.extra_body.{field}"]


def test_the_limits_of_the_channel_model_hold() -> None:
    one = replace(ARK, capabilities={"max_images": 1})
    assert refused(one, {"image": URL}) == []
    assert refused(one, {"image": [URL, URL]}) == ["params.extra_body.image"]
    assert refused(replace(ARK, capabilities={"data_url": False}), {"image": DATA_URL}) == ["params.extra_body.image"]


def test_the_rules_of_the_service_hold() -> None:
    assert refused(ARK, {"image": [URL, URL]}, most_images=1) == ["params.extra_body.image"]
    assert refused(ARK, {"image": [DATA_URL, URL]}, address_problem=lambda url: "is closed") == [
        "params.extra_body.image[1]"
    ]


def test_a_file_of_the_operators_account_passes_where_the_operator_says_so() -> None:
    opened = replace(XAI, extra_fields=["image.file_id"])
    assert refused(opened, {"image": {"file_id": "file-1"}}) == []
    assert refused(opened, {"image": {"file_id": "file-1"}}, most_images=0) == ["params.extra_body.image"]
