"""Requests of `ark_images`: what can be expressed, and what is sent. Pure.

Capabilities: `tiers` and `ratios` (restrict), `size_table` (replaces SIZES), `max_n`, `max_images`, `prompt_max`,
`data_url`.
Facts: Volcengine's documentation of the image generation API and its Ark runtime SDK 5.0.54 (request fields).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from adapters.ark.images_fields import MAX_IMAGES, TIERS
from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, inline, references
from adapters.kit.sizes import SizeTable, by_area, tier_of, with_portraits

PATH = "/images/generations"
MAX_N = 10
RATIOS = ("1:1", "16:9", "4:3", "3:2", "5:4", "21:9")
# Inside the bounds of every model that has the tier: 1K at least 1024x1024 pixels, 2K 2560x1440 to 2048x2048, 3K at
# most 3072x3072, 4K at most 4096x4096.
LANDSCAPES = {
    "1K": "1024x1024 1408x792 1184x888 1272x848 1160x928 1568x672",
    "2K": "2048x2048 2560x1440 2304x1728 2496x1664 2280x1824 3024x1296",
    "3K": "3072x3072 4096x2304 3456x2592 3744x2496 3400x2720 4536x1944",
    "4K": "4096x4096 5440x3060 4704x3528 4992x3328 4560x3648 6216x2664",
}
SIZES = with_portraits({tier: dict(zip(RATIOS, row.split(), strict=True)) for tier, row in LANDSCAPES.items()})
ONE_PICTURE = "one request makes one picture: ask for more with n"
# The values that leave it at one picture; of the other fields there is none.
SINGLE: Mapping[str, tuple[object, ...]] = {
    "n": (),
    "max_images": (),
    "sequential_image_generation": ("disabled", None),
    "sequential_image_generation_options": (None,),
    "layer_decomposition": (False, None),
}


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    types = () if "image" in request.extra_body else references.TYPES
    yield from checks.images(request, target.capabilities, max_n=MAX_N, max_images=MAX_IMAGES, types=types)
    yield from _size(request, target.capabilities)
    yield from _extra(request.extra_body)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """Pixels where a ratio is given, else the tier in the provider's words, which leaves the ratio to the prompt; with
    neither the provider chooses, and no tier is billed. A request makes one picture, so it is sent n times.

    `extra_body` wins over every derived field. The provider's own watermark is declined unless it is asked for.
    """
    table = target.capabilities.get("size_table", SIZES)
    tier = checks.asked_tier(request, target.capabilities, partial(by_area, table))
    derived: dict[str, Any] = {
        "prompt": request.prompt,
        "response_format": "url",
        "sequential_image_generation": "disabled",
        "watermark": False,
    }
    if "size" in request.extra_body:
        tier = _billed_tier(request.extra_body["size"], table)
    elif tier is not None:
        derived["size"] = table[tier][request.aspect_ratio] if request.aspect_ratio else tier
    images = () if "image" in request.extra_body else request.images
    if links := inline.links(images):
        derived["image"] = links[0] if len(links) == 1 else links
    return UpstreamRequest(
        path=PATH,
        body={**derived, **request.extra_body, "model": target.upstream_model},
        billed=Billed(count=request.n, tier=tier),
        files=inline.files_of(images),
        calls=request.n,
    )


def _billed_tier(size: object, table: SizeTable) -> str | None:
    """Of a size of `extra_body`: a tier in so many words, else the one that covers the pixels."""
    return size if isinstance(size, str) and size in TIERS else tier_of(size, table)


def _size(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    table = capabilities.get("size_table", SIZES)
    tier = checks.asked_tier(request, capabilities, partial(by_area, table))
    if tier is None or "size" in request.extra_body:
        return
    known = [name for name in table if request.aspect_ratio or name in TIERS]
    allowed = [name for name in capabilities.get("tiers", known) if name in known]
    yield from checks.listed("params.image_size", tier, allowed)
    if request.aspect_ratio and tier in table:
        ratios = [ratio for ratio in capabilities.get("ratios", table[tier]) if ratio in table[tier]]
        yield from checks.listed("params.aspect_ratio", request.aspect_ratio, ratios)


def _extra(extra_body: Mapping[str, Any]) -> Iterator[Unsupported]:
    for name, value in extra_body.items():
        if name in SINGLE and value not in SINGLE[name]:
            yield Unsupported(field=f"params.extra_body.{name}", reason=ONE_PICTURE)
