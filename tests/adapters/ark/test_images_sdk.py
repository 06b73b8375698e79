"""What goes to the Ark image protocol is what Volcengine's own SDK sends for the same order."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.ark.images_request import SIZES
from adapters.base import ImageRef, Target
from adapters.kit.inline import InlineJson, Picture
from adapters.registry import ADAPTERS
from tests.adapters.making import PNG, image_request, stored

sdk = pytest.importorskip("volcenginesdkarkruntime")
httpx = pytest.importorskip("httpx")
adapter = ADAPTERS["ark_images"]
BASE = "https://ark.example.com/api/v3"
REFERENCES = (ImageRef(stored=stored()), ImageRef(url="https://x.example.com/a.png"))


def sent_by_sdk(order: dict[str, Any]) -> tuple[str, Any]:
    """Path and body of the SDK's own request, without what it leaves open. No network."""
    seen: list[Any] = []

    def keep(request: Any) -> Any:
        seen.append(request)
        return httpx.Response(200, json={"model": "x", "created": 1, "data": [{"url": "https://x.example.com/"}]})

    with httpx.Client(transport=httpx.MockTransport(keep)) as wire:
        sdk.Ark(api_key="x", base_url=BASE, http_client=wire).images.generate(**order)
    body = json.loads(seen[0].content)
    return seen[0].url.path, {name: value for name, value in body.items() if value is not None}


@pytest.mark.parametrize(
    "changes",
    [
        {"image_size": None, "aspect_ratio": None},
        {"image_size": "2K", "aspect_ratio": None},
        *({"image_size": tier} for tier in SIZES),
        {"images": REFERENCES},
        {"images": REFERENCES[:1]},
        {"extra_body": {"seed": 7, "watermark": True, "output_format": "png"}},
    ],
)
def test_the_sdk_sends_the_same(changes: dict[str, Any], tmp_path: Path) -> None:
    target = Target(adapter=adapter.protocol, base_url=BASE, upstream_model="seedream-4")
    upstream = adapter.build(image_request(**changes), target)
    path = tmp_path / "picture"
    path.write_bytes(PNG)
    pictures = [Picture(path=path, content_type="image/png") for _ in upstream.files]
    body = json.loads(b"".join(InlineJson(upstream.body, pictures, "data_url")))
    assert sent_by_sdk(body) == (f"/api/v3{upstream.path}", body)


def test_a_field_that_the_sdk_does_not_know_would_be_seen() -> None:
    with pytest.raises(TypeError, match="aspect_ratio"):
        sent_by_sdk({"model": "x", "prompt": "a fox", "aspect_ratio": "1:1"})
