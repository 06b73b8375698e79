"""Requests of the dialect `xai` of `openai_images`: names for sizes, and edits in JSON with the images inside. Pure.

Capabilities: `tiers` and `ratios` (restrict), `size_table` is not used, `max_n`, `max_images`, `prompt_max`.
Facts: xAI's documentation of image generation and its SDK 1.21.0 (ratios, resolutions); its REST
reference of image edits (`mask`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, inline, references
from adapters.openai.xai_fields import MAX_IMAGES, TIERS

MAX_N = 10
DEFAULT_TIERS = ["1K"]
LANDSCAPES = ("1:1", "4:3", "3:2", "16:9", "2:1", "19.5:9", "20:9")
RATIOS = tuple(dict.fromkeys([*LANDSCAPES, *(":".join(reversed(ratio.split(":"))) for ratio in LANDSCAPES)]))
FILE_FIELDS = ("image", "images")


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the dialect, or the model behind it, cannot express the request."""
    types = () if checks.stands_for(request, *FILE_FIELDS) else references.TYPES
    yield from checks.images(request, target.capabilities, max_n=MAX_N, max_images=MAX_IMAGES, types=types)
    if request.mask is not None:
        yield from checks.mask(request, has_images=bool(request.images) or checks.stands_for(request, *FILE_FIELDS))
    yield from checks.named(request, target.capabilities, TIERS, RATIOS)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """An edit where there are reference images, else a generation. `extra_body` wins over every derived field.

    With neither tier nor ratio the provider chooses the size, and no tier is billed.
    """
    tier = checks.asked_tier(request, target.capabilities, lambda: DEFAULT_TIERS)
    derived: dict[str, Any] = {"prompt": request.prompt, "n": request.n, "response_format": "b64_json"}
    if tier is not None and "resolution" not in request.extra_body:
        derived["resolution"] = TIERS[tier]
    if request.aspect_ratio is not None:
        derived["aspect_ratio"] = request.aspect_ratio
    is_given = checks.stands_for(request, *FILE_FIELDS)
    sent = replace(request, images=()) if is_given else request
    body = {**derived, **_pictures(sent), **request.extra_body, "model": target.upstream_model}
    is_edit = bool(request.images) or is_given
    return UpstreamRequest(
        path="/images/edits" if is_edit else "/images/generations",
        body=body,
        billed=Billed(count=body["n"], tier=_tier_of(body.get("resolution"))),
        files=inline.files_of(sent.pictures),
    )


def _pictures(request: TaskRequest) -> dict[str, Any]:
    items = [{"url": link, "type": "image_url"} for link in inline.links(request.pictures)]
    mask = {} if request.mask is None else {"mask": items.pop()}
    if len(items) == 1:
        return {"image": items[0], **mask}
    return ({"images": items} if items else {}) | mask


def _tier_of(resolution: object) -> str | None:
    return next((tier for tier, name in TIERS.items() if name == resolution), None)
