"""The providers themselves, with keys of one's own: the smallest thing that each sells, probed, bought and delivered.

A provider's test runs where its key is in the environment, under the name that its SDK has for it. Variables named
…_BASE_URL and …_MODEL choose another region or model.
"""

import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adapters import expression
from adapters.base import Accepted, Done, Pending, Target, TaskRequest
from adapters.registry import ADAPTERS
from tests.adapters.making import connection_to, image_request, video_request

PLAIN = image_request(image_size=None, aspect_ratio=None)
SQUARE = {"input": {"width": None, "height": None, "aspect_ratio": "{aspect_ratio}"}, "tiers": ["1K"]}
ARK = ("ARK_BASE_URL", "https://ark.cn-beijing.volces.com/api/v3")
DASHSCOPE = "https://dashscope.aliyuncs.com/api/v1"
OPENROUTER = ("", "https://openrouter.ai/api/v1")
MAGIC = {"image": (b"\x89PNG", b"\xff\xd8\xff", b"RIFF"), "video": (b"ftyp",)}


@dataclass(frozen=True, kw_only=True)
class Shop:
    """One thing to buy. `base` and `model` are the variable that chooses them, and the usual value; `seconds` is the
    longest that it may take."""

    adapter: str
    key: str
    base: tuple[str, str]
    model: tuple[str, str]
    request: TaskRequest
    options: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 900.0

    @property
    def is_open(self) -> bool:
        return all((os.environ.get(self.key), chosen(self.base), chosen(self.model)))


def chosen(place: tuple[str, str]) -> str:
    variable, usual = place
    return os.environ.get(variable, usual)


def picture(adapter: str, **more: Any) -> Shop:
    return Shop(**{"adapter": adapter, "request": image_request(prompt="a red dot on white"), "seconds": 300.0} | more)


def film(adapter: str, *, duration: int, resolution: str = "720p", **more: Any) -> Shop:
    return Shop(adapter=adapter, request=video_request(duration=duration, resolution=resolution), **more)


SHOPS = [
    picture(
        "openai_images",
        key="OPENAI_API_KEY",
        base=("", "https://api.openai.com/v1"),
        model=("OPENAI_IMAGE_MODEL", "gpt-image-1-mini"),
        request=image_request(extra_body={"quality": "low"}),
    ),
    picture(
        "openai_images",
        key="XAI_API_KEY",
        base=("", "https://api.x.ai/v1"),
        model=("XAI_IMAGE_MODEL", "grok-imagine-image"),
        options={"dialect": "xai"},
    ),
    picture("ark_images", key="ARK_API_KEY", base=ARK, model=("ARK_IMAGE_MODEL", "doubao-seedream-4-0-250828")),
    picture(
        "gemini_generate_content",
        key="GEMINI_API_KEY",
        base=("", "https://generativelanguage.googleapis.com"),
        model=("GEMINI_IMAGE_MODEL", "gemini-2.5-flash-image"),
        capabilities={"fixed_size": True},
    ),
    picture(
        "dashscope_image",
        key="DASHSCOPE_API_KEY",
        base=("DASHSCOPE_HTTP_BASE_URL", DASHSCOPE),
        model=("DASHSCOPE_IMAGE_MODEL", "qwen-image-2.0"),
    ),
    picture(
        "openrouter_images",
        key="OPENROUTER_API_KEY",
        base=OPENROUTER,
        model=("OPENROUTER_IMAGE_MODEL", "bytedance-seed/seedream-4.5"),
        request=PLAIN,
    ),
    picture(
        "http_template",
        key="FAL_KEY",
        base=("", "https://queue.fal.run"),
        model=("", "fal-ai/flux/schnell"),
        options={"template": "fal_image"},
        capabilities={"size_table": {"1K": {"1:1": "512x512"}}},
    ),
    picture(
        "http_template",
        key="REPLICATE_API_TOKEN",
        base=("", "https://api.replicate.com/v1"),
        model=("", "black-forest-labs/flux-schnell"),
        options={"template": "replicate_image"},
        capabilities=SQUARE,
    ),
    film(
        "ark_content_tasks",
        duration=5,
        resolution="480p",
        key="ARK_API_KEY",
        base=ARK,
        model=("ARK_VIDEO_MODEL", "doubao-seedance-1-0-pro-250528"),
        capabilities={"audio": "never"},
        seconds=1800.0,
    ),
    film(
        "ark_content_tasks",
        duration=4,
        resolution="768p",
        key="MINIMAX_API_KEY",
        base=("", "https://api.minimax.io"),
        model=("", "MiniMax-H3"),
        options={"dialect": "minimax_v2"},
        seconds=1800.0,
    ),
    film(
        "dashscope_video",
        duration=2,
        key="DASHSCOPE_API_KEY",
        base=("DASHSCOPE_BASE_URL", "https://dashscope-intl.aliyuncs.com/api/v1"),
        model=("DASHSCOPE_VIDEO_MODEL", "wan2.7-t2v"),
        capabilities={"audio": "always"},
    ),
    film(
        "kling_tasks",
        duration=3,
        key="KLING_API_KEY",
        base=("KLING_BASE_URL", "https://api-singapore.klingai.com"),
        model=("KLING_MODEL", "kling-3.0"),
    ),
    film(
        "openai_videos",  # of one's own choice, for the service of OpenAI has ended
        duration=4,
        key="OPENAI_VIDEOS_API_KEY",
        base=("OPENAI_VIDEOS_BASE_URL", ""),
        model=("OPENAI_VIDEOS_MODEL", ""),
        options={"dialect": os.environ.get("OPENAI_VIDEOS_DIALECT", "openai")},
    ),
    film(
        "openrouter_videos",
        duration=4,
        resolution="480p",
        key="OPENROUTER_API_KEY",
        base=OPENROUTER,
        model=("OPENROUTER_VIDEO_MODEL", "bytedance/seedance-1-5-pro"),
    ),
    film(
        "runway",
        duration=2,
        key="RUNWAYML_API_SECRET",
        base=("", "https://api.dev.runwayml.com"),
        model=("", "gen4.5"),
        capabilities={"audio": "never"},
    ),
]


def bought(shop: Shop) -> Any:
    is_missing = pytest.mark.skipif(not shop.is_open, reason=f"{shop.key}, or an address or a model, is not set")
    name = "-".join((shop.adapter, shop.key.partition("_")[0].lower()))
    return pytest.param(shop, id=name, marks=[is_missing, pytest.mark.timeout(shop.seconds + 60)])


@pytest.mark.live
@pytest.mark.parametrize("shop", [bought(shop) for shop in SHOPS])
def test_the_smallest_thing_is_bought_and_delivered(shop: Shop, tmp_path: Path) -> None:
    adapter = ADAPTERS[shop.adapter]
    connection = connection_to(
        chosen(shop.base),
        credentials={"api_key": os.environ[shop.key]},
        total_timeout=min(shop.seconds, 300.0),
        options=shop.options,
        scratch_dir=tmp_path,
        reference=f"live-{uuid.uuid4()}",
    )
    target = Target(
        adapter=shop.adapter,
        base_url=connection.base_url,
        upstream_model=chosen(shop.model),
        capabilities=shop.capabilities,
        options=shop.options,
    )
    assert (adapter.validate(target), expression.check(adapter, shop.request, target)) == ([], [])
    adapter.probe(connection)
    upstream = adapter.build(shop.request, target)
    state: object = adapter.submit(upstream, connection)
    if isinstance(state, Accepted):
        handle = state.handle
        assert adapter.submit_safety != "lookup" or adapter.find(upstream, connection) == state
        end = time.monotonic() + shop.seconds
        while isinstance(state, Accepted | Pending) and time.monotonic() < end:
            time.sleep(state.poll_after)
            (state,) = adapter.poll([handle], connection)
    assert isinstance(state, Done)
    with adapter.open_output(state.outputs[0], connection) as chunks:
        head = next(chunks)[:64]
    assert any(magic in head for magic in MAGIC[shop.request.modality])
