"""What goes to Ark's content generation is what Volcengine's own SDK sends for the same order."""

import json
from typing import Any

import pytest

from adapters.base import MediaInput, Target
from adapters.registry import ADAPTERS
from tests.adapters.making import video_request

sdk = pytest.importorskip("volcenginesdkarkruntime", reason="the provider's SDK is not installed")
httpx = pytest.importorskip("httpx")
pydantic = pytest.importorskip("pydantic")
types = pytest.importorskip("volcenginesdkarkruntime.types.content_generation.create_task_content_param")
adapter = ADAPTERS["ark_content_tasks"]
BASE = "https://ark.example.com/api/v3"
ITEM = pydantic.TypeAdapter(types.CreateTaskContentParam)
FRAMES = tuple(MediaInput(type="image", role=role, url=f"{BASE}/{role}") for role in ("first_frame", "last_frame"))
REFERENCES = tuple(
    MediaInput(type=kind, role="reference", url=f"{BASE}/{kind}") for kind in ("image", "video", "audio")
)
OPTIONS = {
    "camera_fixed": True,
    "draft": False,
    "execution_expires_after": 7200,
    "omni_reference_task_type": "edit",
    "output_format": "mp4",
    "priority": 1,
    "return_last_frame": True,
    "safety_identifier": "user-1",
    "seed": 7,
    "service_tier": "flex",
    "tools": [{"type": "web_search"}],
    "watermark": True,
}


def built(**fields: Any) -> dict[str, Any]:
    request = video_request(**fields)
    target = Target(adapter=adapter.protocol, base_url=BASE, upstream_model="seedance-2")
    assert adapter.check(request, target) == []
    return dict(adapter.build(request, target).body)


def sent_by_sdk(order: dict[str, Any]) -> tuple[str, Any]:
    """Path and body of the SDK's own request, without what it leaves open. No network."""
    seen: list[Any] = []

    def keep(request: Any) -> Any:
        seen.append(request)
        return httpx.Response(200, json={"id": "cgt-1"})

    with httpx.Client(transport=httpx.MockTransport(keep)) as wire:
        sdk.Ark(api_key="x", base_url=BASE, http_client=wire).content_generation.tasks.create(**order)
    body = json.loads(seen[0].content)
    return seen[0].url.path, {name: value for name, value in body.items() if value is not None}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"generate_audio": True, "aspect_ratio": "adaptive", "inputs": FRAMES},
        {"inputs": REFERENCES},
        {"provider_options": OPTIONS},
    ],
)
def test_the_sdk_sends_the_same(fields: dict[str, Any]) -> None:
    body = built(**fields)
    assert sent_by_sdk(body) == ("/api/v3/contents/generations/tasks", body)
    for item in body["content"]:
        ITEM.validate_python(item)


def test_a_field_that_the_sdk_does_not_know_would_be_seen() -> None:
    with pytest.raises(TypeError, match="aspect_ratio"):
        sent_by_sdk(built() | {"aspect_ratio": "1:1"})
    with pytest.raises(ValueError):
        ITEM.validate_python({"type": "image_url", "image_url": "https://x.example.com/", "role": "first_frame"})
