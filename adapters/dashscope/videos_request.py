"""Requests of `dashscope_video`: what can be expressed, and what is sent. Pure.

Capabilities beside those of all video models: `ratio_with_frames` (true; false: a first frame decides the ratio, which
has to be `adaptive` then) and `generation`: "media" (default) for models that take a list of inputs, "legacy" for those
before Wan 2.7, which take one first frame or references, and pixels instead of a ratio: their `size_table` has to say
which. A model whose sound is no switch has no field for it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, film_checks, rules

PATH = "/services/aigc/video-generation/video-synthesis"
ADAPTIVE = "adaptive"
CAPABILITIES = {
    **rules.VIDEO_CAPABILITIES,
    "generation": rules.one_of("media", "legacy"),
    "ratio_with_frames": rules.BOOLEAN,
}
LEGACY_LIMITS = {"roles": {"first_frame": 1, "reference_image": 16, "reference_video": 16}}
INPUT_OPTIONS = {"negative_prompt": rules.TEXT}
OPTIONS = {
    **INPUT_OPTIONS,
    "enable_thinking": rules.BOOLEAN,
    "prompt_extend": rules.BOOLEAN,
    "seed": rules.COUNT,
    "shot_type": rules.TEXT,
    "watermark": rules.BOOLEAN,
}
# Upstream fields that the portable ones fill, and fields that are ours to set.
DERIVED_OR_OURS = (
    *("input", "parameters", "media", "size", "ratio", "audio", "img_url", "reference_urls", "generate_audio"),
    *("model", "prompt", "duration", "resolution", "aspect_ratio", "inputs", "n", "callback_url"),
)


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request; each field once."""
    capabilities = target.capabilities
    yield from checks.once(
        *film_checks.video(request, capabilities),
        *_ratio(request, capabilities),
        *(_older(request, capabilities) if is_legacy(capabilities) else ()),
        *film_checks.options(request, OPTIONS, DERIVED_OR_OURS, target),
    )


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """Without a watermark unless asked for, and with sound asked for or declined in so many words."""
    capabilities = target.capabilities
    make = _legacy_media if is_legacy(capabilities) else _media
    media, picture = make(request, capabilities)
    parameters = {**picture, "duration": request.duration, "watermark": False}
    if capabilities.get("audio", "switch") == "switch":
        parameters["audio"] = request.generate_audio is True
    inputs = {"prompt": request.prompt, **media}
    for name, value in request.provider_options.items():
        (inputs if name in INPUT_OPTIONS else parameters)[name] = value
    body = {"model": target.upstream_model, "input": inputs, "parameters": parameters}
    return UpstreamRequest(path=PATH, body=body, billed=Billed(count=1, tier=request.resolution))


def is_legacy(capabilities: Mapping[str, Any]) -> bool:
    return capabilities.get("generation") == "legacy"


Parts = tuple[dict[str, Any], dict[str, Any]]
"""The fields of `input` and of `parameters` that the inputs and the size of the picture become."""


def _media(request: TaskRequest, capabilities: Mapping[str, Any]) -> Parts:
    media = [{"type": film_checks.role_of(item), "url": item.url} for item in request.inputs]
    ratio = {} if request.aspect_ratio == ADAPTIVE else {"ratio": request.aspect_ratio}
    return {"media": media} if media else {}, {"resolution": str(request.resolution).upper(), **ratio}


def _legacy_media(request: TaskRequest, capabilities: Mapping[str, Any]) -> Parts:
    if _has_frame(request):
        return {"img_url": request.inputs[0].url}, {"resolution": str(request.resolution).upper()}
    urls = [item.url for item in request.inputs]
    size = _pixels(request, capabilities)
    return {"reference_urls": urls} if urls else {}, {"size": str(size).replace("x", "*")}


def _pixels(request: TaskRequest, capabilities: Mapping[str, Any]) -> str | None:
    size: str | None = capabilities.get("size_table", {}).get(request.resolution, {}).get(request.aspect_ratio)
    return size


def _ratio(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    is_open = not is_legacy(capabilities) and capabilities.get("ratio_with_frames", True)
    if request.aspect_ratio == ADAPTIVE and not _has_frame(request):
        yield Unsupported(field="params.aspect_ratio", reason=f"{ADAPTIVE} needs a first frame")
    if request.aspect_ratio != ADAPTIVE and _has_frame(request) and not is_open:
        yield Unsupported(field="params.aspect_ratio", reason=f"must be {ADAPTIVE} beside a first frame")


def _older(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    yield from film_checks.input_counts(request, LEGACY_LIMITS)
    if _has_frame(request) and len(request.inputs) > 1:
        yield Unsupported(field="params.inputs", reason="a first frame has to be alone here")
    if not _has_frame(request) and _pixels(request, capabilities) is None:
        yield Unsupported(field="params.aspect_ratio", reason="has no pixel size at this resolution here")


def _has_frame(request: TaskRequest) -> bool:
    return any(item.role != "reference" for item in request.inputs)
