"""Requests of `openrouter_images`: what can be expressed, and what is sent. Pure.

Capabilities: `tiers` and `ratios` (restrict), `size_table` (of sizes in pixels that `extra_body` asks for, to bill
them), `max_n`, `max_images`, `prompt_max`, `data_url`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.base import Billed, ImageRef, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, inline, references
from adapters.kit.sizes import SizeTable, pixels, tier_of
from adapters.openrouter.images_fields import MAX_IMAGES, TIERS

PATH = "/images"
MAX_N = 10
DEFAULT_TIERS = ["1K"]
SIZES: SizeTable = {
    "0.5K": {"1:1": "512x512"},
    "1K": {"1:1": "1024x1024"},
    "1.5K": {"1:1": "1536x1536"},
    "2K": {"1:1": "2048x2048"},
    "4K": {"1:1": "4096x4096"},
}
RATIOS = (
    *("1:1", "1:2", "1:4", "1:8", "2:1", "2:3", "2.35:1", "3:2", "3:4", "4:1", "4:3", "4:5", "5:2", "5:4", "5:7"),
    *("7:5", "8:1", "9:16", "16:9", "9:19.5", "19.5:9", "9:20", "20:9", "9:21", "21:9"),
)


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    types = () if "input_references" in request.extra_body else references.TYPES
    yield from checks.images(request, target.capabilities, max_n=MAX_N, max_images=MAX_IMAGES, types=types)
    yield from checks.named(request, target.capabilities, TIERS, RATIOS)
    if {"size", "resolution"} <= request.extra_body.keys():
        yield Unsupported(field="params.extra_body.resolution", reason="cannot stand beside size")


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """`extra_body` wins over every derived field; its `size` also over the resolution, which may not stand beside it,
    and one in pixels over the ratio.

    With neither tier nor ratio the provider chooses the size, and no tier is billed.
    """
    size = request.extra_body.get("size")
    tier = checks.asked_tier(request, target.capabilities, lambda: DEFAULT_TIERS)
    derived: dict[str, Any] = {"prompt": request.prompt, "n": request.n}
    if tier is not None and not {"size", "resolution"} & request.extra_body.keys():
        derived["resolution"] = TIERS[tier]
    if request.aspect_ratio is not None and pixels(size) is None:
        derived["aspect_ratio"] = request.aspect_ratio
    images = () if "input_references" in request.extra_body else request.images
    body = {**derived, **_references(images), **request.extra_body, "model": target.upstream_model}
    return UpstreamRequest(
        path=PATH,
        body=body,
        billed=Billed(count=body["n"], tier=_billed_tier(body, target)),
        files=inline.files_of(images),
    )


def _references(images: Sequence[ImageRef]) -> dict[str, Any]:
    items = [{"type": "image_url", "image_url": {"url": link}} for link in inline.links(images)]
    return {"input_references": items} if items else {}


def _billed_tier(body: Mapping[str, Any], target: Target) -> str | None:
    """A size is the name of a tier or pixels."""
    asked = body.get("size", body.get("resolution"))
    named = next((tier for tier, name in TIERS.items() if name == asked), None)
    return named or tier_of(asked, target.capabilities.get("size_table", SIZES))
