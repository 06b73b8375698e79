"""Requests of `openai_images`: what can be expressed, and what is sent. Pure.

Capabilities: `tiers` and `ratios` (restrict), `size_table` (replaces SIZES), `max_n`, `max_images`, `prompt_max`.
Facts: OpenAI's API reference of images and its SDK.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from adapters.base import Billed, FilePart, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, references
from adapters.kit.sizes import DEFAULT_RATIO, by_area, tier_of, with_portraits

MAX_N = 10
MAX_IMAGES = 16
RATIOS = ("1:1", "16:9", "4:3", "3:2", "5:4", "21:9")
LANDSCAPES = {
    "1K": "1024x1024 1360x768 1168x880 1248x832 1136x912 1552x656",
    "2K": "2048x2048 2720x1536 2352x1760 2496x1664 2288x1824 3120x1328",
    "4K": "2880x2880 3840x2160 3312x2480 3520x2336 3216x2560 3824x1632",
}
SIZES = with_portraits({tier: dict(zip(RATIOS, row.split(), strict=True)) for tier, row in LANDSCAPES.items()})


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    capabilities = target.capabilities
    yield from checks.images(request, capabilities, max_n=MAX_N, max_images=MAX_IMAGES, types=references.TYPES)
    yield from checks.tabled(request, capabilities, capabilities.get("size_table", SIZES))
    if request.mask is not None:
        yield from checks.mask(request, has_images=bool(request.images))
    if request.images:
        yield from _extra_of_edit(request.extra_body)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """An edit where there are reference images, else a generation. `extra_body` wins over every derived field.

    With neither tier nor ratio no `size` is sent: the provider chooses, and no tier is billed.
    """
    table = target.capabilities.get("size_table", SIZES)
    tier = checks.asked_tier(request, target.capabilities, partial(by_area, table))
    derived: dict[str, Any] = {"prompt": request.prompt, "n": request.n}
    if "size" in request.extra_body:
        tier = tier_of(request.extra_body["size"], table)
    elif tier is not None:
        derived["size"] = table[tier][request.aspect_ratio or DEFAULT_RATIO]
    body = {**derived, **request.extra_body, "model": target.upstream_model}
    return UpstreamRequest(
        path="/images/edits" if request.images else "/images/generations",
        body=body,
        billed=Billed(count=body["n"], tier=tier),
        encoding="multipart" if request.images else "json",
        files=_files(request) if request.images else (),
    )


def _files(request: TaskRequest) -> tuple[FilePart, ...]:
    field = "image" if len(request.images) == 1 else "image[]"
    images = tuple(FilePart(field=field, image=image) for image in request.images)
    return images if request.mask is None else (*images, FilePart(field="mask", image=request.mask))


def _extra_of_edit(extra_body: Mapping[str, Any]) -> Iterator[Unsupported]:
    """The fields of a form hold one plain value each."""
    for name, value in extra_body.items():
        if value is None or isinstance(value, dict | list):
            yield Unsupported(
                field=f"params.extra_body.{name}", reason="must be text, a number or a boolean beside reference images"
            )
