"""Requests of `runway`: what can be expressed, and what is sent. Pure.

Capabilities: those of video models, and `sizes`: "pixels" (the default: the resolution and the ratio become one size of
`size_table`, which replaces SIZES) or "words" (both go out as they are, for models with a field `resolution`). A video
among the inputs is always a reference, never the film to be edited: `video_to_video` has no portable request.
Facts: Runway's Python SDK 5.24.0.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, film_checks, rules
from adapters.kit.sizes import SizeTable

TEXT_TO_VIDEO, IMAGE_TO_VIDEO, ROUTER = "/v1/text_to_video", "/v1/image_to_video", "/v1/generate/video"
ADAPTIVE = "adaptive"
AUTO_SIZES = {resolution: f"auto_{resolution}" for resolution in ("480p", "720p", "1080p")}
# What most of the hosted models share; others differ by some pixels and need a `size_table` of their own.
SIZES: SizeTable = {
    "720p": {
        "16:9": "1280x720",
        "9:16": "720x1280",
        "1:1": "960x960",
        "4:3": "1104x832",
        "3:4": "832x1104",
        "21:9": "1584x672",
    },
    "1080p": {"16:9": "1920x1080", "9:16": "1080x1920", "1:1": "1440x1440"},
    "4k": {"16:9": "3840x2160", "9:16": "2160x3840"},
}
ROUTER_RESOLUTIONS = ["480p", "720p", "1080p", "4k"]
ROUTER_RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"]
SHARED_OPTIONS: rules.Rules = {
    "contentModeration": rules.rule(lambda value: isinstance(value, dict), "an object"),
    "negativePrompt": rules.TEXT,
    "seed": rules.rule(lambda value: rules.is_whole(value) and value < 2**32, "a whole number from 0 to 4294967295"),
}
CLASSIC_OPTIONS: rules.Rules = {
    **SHARED_OPTIONS,
    "cfgScale": rules.rule(
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1,
        "a number from 0 to 1",
    ),
    "promptExpansionMode": rules.TEXT,
}
# Upstream fields that the portable ones fill, or that are ours to set.
TAKEN = (
    *("model", "prompt", "promptText", "promptImage", "promptVideo", "videoUri", "inputs", "keyframes", "configId"),
    *("references", "referenceImages", "referenceVideos", "referenceAudio"),
    *("duration", "resolution", "ratio", "aspect_ratio", "aspectRatio", "audio", "generate_audio"),
)


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    found = list(film_checks.video(request, target.capabilities))
    yield from found
    yield from film_checks.options(request, SHARED_OPTIONS if is_routed(target) else CLASSIC_OPTIONS, TAKEN, target)
    for index, item in enumerate(request.inputs):
        if not item.url.lower().startswith("https://"):
            yield Unsupported(field=f"params.inputs[{index}].url", reason="must be an https URL here")
    if not any(problem.field in ("params.resolution", "params.aspect_ratio") for problem in found):
        yield from _size_problems(request, target)


def is_routed(target: Target) -> bool:
    """Whether the provider's own router chooses the model: `upstream_model` is the name of its configuration."""
    return bool(target.options.get("api") == "router")


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    path, body = _routed(request, target) if is_routed(target) else _classic(request, target)
    return UpstreamRequest(path=path, body=body, billed=Billed(count=1, tier=request.resolution))


def _classic(request: TaskRequest, target: Target) -> tuple[str, dict[str, Any]]:
    """Frames go to `image_to_video`, all else to `text_to_video`. Only models with a switch know the field `audio`."""
    frames = [
        {"uri": item.url, "position": item.role.removesuffix("_frame")}
        for item in request.inputs
        if item.role != "reference"
    ]
    body = {
        "model": target.upstream_model,
        "promptText": request.prompt,
        **({"promptImage": frames} if frames else {}),
        **_references(request),
        "duration": request.duration,
        **_size(request, target.capabilities),
    }
    if target.capabilities.get("audio", "switch") == "switch":
        body["audio"] = request.generate_audio is True
    return IMAGE_TO_VIDEO if frames else TEXT_TO_VIDEO, {**body, **request.provider_options}


def _references(request: TaskRequest) -> dict[str, list[dict[str, str]]]:
    found = {
        "references": [{"uri": url} for url in _urls(request, "image")],
        "referenceVideos": [{"type": "video", "uri": url} for url in _urls(request, "video")],
        "referenceAudio": [{"type": "audio", "uri": url} for url in _urls(request, "audio")],
    }
    return {name: items for name, items in found.items() if items}


def _urls(request: TaskRequest, kind: str) -> list[str]:
    return [item.url for item in request.inputs if item.type == kind and item.role == "reference"]


def _size(request: TaskRequest, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """`adaptive` means the shape of the input: a size of that name in pixels, no ratio in words."""
    resolution, ratio = request.resolution or "", request.aspect_ratio or ""
    if capabilities.get("sizes") == "words":
        return {"resolution": resolution, **({} if ratio == ADAPTIVE else {"ratio": ratio})}
    if ratio == ADAPTIVE:
        return {"ratio": AUTO_SIZES[resolution]}
    return {"ratio": capabilities.get("size_table", SIZES)[resolution][ratio].replace("x", ":")}


def size_table(target: Target) -> SizeTable:
    """Empty where resolution and ratio go out in words."""
    if is_routed(target) or target.capabilities.get("sizes") == "words":
        return {}
    table: SizeTable = target.capabilities.get("size_table", SIZES)
    return table


def _routed(request: TaskRequest, target: Target) -> tuple[str, dict[str, Any]]:
    """Every field counts: the router leaves out the models that cannot do what is asked."""
    images = [
        {"role": item.role.removesuffix("_frame"), "uri": item.url} for item in request.inputs if item.type == "image"
    ]
    videos = [{"role": "reference", "uri": url} for url in _urls(request, "video")]
    audio = [{"uri": url} for url in _urls(request, "audio")]
    asked = {
        "promptText": request.prompt,
        "duration": request.duration,
        "resolution": request.resolution,
        "aspectRatio": request.aspect_ratio,
        "audio": target.capabilities.get("audio") == "always" or request.generate_audio is True,
        **({"referenceImages": images} if images else {}),
        **({"referenceVideos": videos} if videos else {}),
        **({"referenceAudio": audio} if audio else {}),
    }
    return ROUTER, {"configId": target.upstream_model, "input": {**asked, **request.provider_options}}


def _size_problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    resolution, ratio = request.resolution, request.aspect_ratio
    if is_routed(target):
        yield from checks.listed("params.resolution", resolution, ROUTER_RESOLUTIONS)
        yield from checks.listed("params.aspect_ratio", ratio, ROUTER_RATIOS)
        return
    is_words = target.capabilities.get("sizes") == "words"
    if ratio == ADAPTIVE:
        if not any(item.type != "audio" for item in request.inputs):
            yield Unsupported(field="params.aspect_ratio", reason="adaptive needs an image or a video to adapt to")
        elif not is_words:
            yield from checks.listed("params.resolution", resolution, list(AUTO_SIZES))
    elif not is_words:
        table = size_table(target)
        if resolution is None or resolution not in table:
            yield from checks.listed("params.resolution", resolution, list(table))
        else:
            yield from checks.listed("params.aspect_ratio", ratio, list(table[resolution]))
