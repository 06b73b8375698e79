"""Requests of `kling_tasks`: what can be expressed, and what is sent. Pure.

The endpoint follows from the inputs: none, frames, or references; with the capability `endpoint: omni` it is always the
one for references, which takes everything. Further capabilities: `ratio_with_frames` (the model takes a ratio beside a
first frame; without it the ratio has to be `adaptive` there, for the picture decides) and `multi_shot` (false: the
model has no such switch). A model whose sound is no switch has no field for it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from adapters.base import Billed, MediaInput, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, film_checks, rules
from adapters.kling import legacy_request
from adapters.kling.legacy_request import ADAPTIVE, ratio

CAPABILITIES = {
    **rules.VIDEO_CAPABILITIES,
    "endpoint": rules.one_of("by_inputs", "omni"),
    "multi_shot": rules.BOOLEAN,
    "ratio_with_frames": rules.BOOLEAN,
}
LIMITS = {
    "prompt_max": 3072,
    "durations": {"min": 3, "max": 30},
    "resolutions": list(legacy_request.MODES),
    "roles": {"first_frame": 1, "last_frame": 1, "reference_image": 10, "reference_video": 1},
    "frames_exclusive_refs": False,
}
PATHS = {"text": "/text-to-video", "image": "/image-to-video", "omni": "/omni-video"}
OPTIONS = {"multi_shot": rules.BOOLEAN}
# Upstream fields that the portable ones fill, and fields that are ours to set.
DERIVED_OR_OURS = (
    *("contents", "settings", "audio", "sound", "mode", "image", "image_tail", "image_list", "video_list"),
    *("ratio", "size", "n", "generate_audio", "options", "external_task_id", "callback_url", "watermark_info"),
    *("model", "model_name", "prompt", "duration", "resolution", "aspect_ratio", "inputs"),
)


def is_legacy(options: Mapping[str, Any]) -> bool:
    """Whether a channel speaks the older generation of the protocol."""
    return options.get("api") == "v1"


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request; each field once."""
    known = legacy_request.OPTIONS if is_legacy(target.options) else OPTIONS
    yield from checks.once(
        *film_checks.video(request, target.capabilities),
        *film_checks.video(request, LIMITS),
        *_sound_of_video(request),
        *_ratio(request, target.capabilities),
        *film_checks.options(request, known, DERIVED_OR_OURS, target),
        *_multi_shot(request, target.capabilities),
    )


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    kind = _kind(request, target.capabilities)
    if is_legacy(target.options):
        path, body = legacy_request.PATHS[kind], legacy_request.body(request, target, kind)
    else:
        path, body = f"{PATHS[kind]}/{quote(target.upstream_model, safe='')}", _body(request, target, kind)
    return UpstreamRequest(path=path, body=body, billed=Billed(count=1, tier=request.resolution))


def named(upstream: UpstreamRequest, reference: str) -> dict[str, Any]:
    """The body with our own name for the job in it, by which it can be found."""
    if not reference:
        return dict(upstream.body)
    if upstream.path in legacy_request.PATHS.values():
        return {**upstream.body, "external_task_id": reference}
    return {**upstream.body, "options": {**upstream.body["options"], "external_task_id": reference}}


def _kind(request: TaskRequest, capabilities: Mapping[str, Any]) -> str:
    roles = [item.role for item in request.inputs]
    if capabilities.get("endpoint") == "omni" or "reference" in roles:
        return "omni"
    return "image" if roles else "text"


def _body(request: TaskRequest, target: Target, kind: str) -> dict[str, Any]:
    content: dict[str, Any] = {"prompt": request.prompt}
    if kind != "text":
        media = _named_contents(request) if kind == "omni" else map(_content, request.inputs)
        content = {"contents": [{"type": "prompt", "text": request.prompt}, *media]}
    return {
        **content,
        "settings": {**_settings(request, target.capabilities), **request.provider_options},
        "options": {"watermark_info": {"enabled": False}},
    }


def _settings(request: TaskRequest, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """One shot unless asked otherwise, although the provider's default is several; a reference video allows no other
    value than several."""
    settings: dict[str, Any] = {"duration": request.duration, "resolution": request.resolution, **ratio(request)}
    if capabilities.get("audio", "switch") == "switch":
        settings["audio"] = "native" if request.generate_audio else "off"
    if capabilities.get("multi_shot", True):
        settings["multi_shot"] = _has_video(request)
    return settings


def _content(item: MediaInput) -> dict[str, Any]:
    reference = {"image": "refer_image", "video": "feature_video"}
    return {"type": reference[item.type] if item.role == "reference" else item.role, "url": item.url}


def _named_contents(request: TaskRequest) -> Iterator[dict[str, Any]]:
    """The inputs by the names under which a prompt speaks of them: the caller's, else image_1, image_2, video_1."""
    counts: Counter[str] = Counter()
    for item in request.inputs:
        counts[item.type] += 1
        yield {**_content(item), "id": item.id or f"{item.type}_{counts[item.type]}"}


def _has_video(request: TaskRequest) -> bool:
    return any(item.type == "video" for item in request.inputs)


def _sound_of_video(request: TaskRequest) -> Iterator[Unsupported]:
    if request.generate_audio and _has_video(request):
        yield Unsupported(field="params.generate_audio", reason="no sound is made beside a reference video")


def _ratio(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    has_frame = any(item.role != "reference" for item in request.inputs)
    if request.aspect_ratio == ADAPTIVE and not has_frame:
        yield Unsupported(field="params.aspect_ratio", reason=f"{ADAPTIVE} needs a first frame")
    if request.aspect_ratio != ADAPTIVE and has_frame and not capabilities.get("ratio_with_frames", False):
        yield Unsupported(field="params.aspect_ratio", reason=f"must be {ADAPTIVE} beside a first frame")


def _multi_shot(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    if "multi_shot" in request.provider_options and not capabilities.get("multi_shot", True):
        yield Unsupported(field="params.provider_options.multi_shot", reason="this model has no such switch")
