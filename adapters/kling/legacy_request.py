"""Requests of the older generation of the Kling protocol, which has a field for each kind of input. Pure."""

from typing import Any

from adapters.base import Target, TaskRequest
from adapters.kit import rules

ADAPTIVE = "adaptive"
MODES = {"720p": "std", "1080p": "pro", "4k": "4k"}
PATHS = {"text": "/v1/videos/text2video", "image": "/v1/videos/image2video", "omni": "/v1/videos/omni-video"}
OPTIONS = {
    "cfg_scale": rules.rule(
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1,
        "a number from 0 to 1",
    ),
    "negative_prompt": rules.TEXT,
}


def ratio(request: TaskRequest) -> dict[str, Any]:
    """The field of the ratio, but where the first frame decides."""
    return {} if request.aspect_ratio == ADAPTIVE else {"aspect_ratio": request.aspect_ratio}


def body(request: TaskRequest, target: Target, kind: str) -> dict[str, Any]:
    """The body for one of the endpoints, by its name in PATHS."""
    fields: dict[str, Any] = {
        "model_name": target.upstream_model,
        "prompt": request.prompt,
        "mode": MODES[str(request.resolution)],
        "duration": str(request.duration),
        **ratio(request),
    }
    if target.capabilities.get("audio", "switch") == "switch":
        fields["sound"] = "on" if request.generate_audio else "off"
    media = _lists(request) if kind == "omni" else _frames(request)
    return {**fields, **media, **request.provider_options}


def _frames(request: TaskRequest) -> dict[str, Any]:
    fields = {"first_frame": "image", "last_frame": "image_tail"}
    return {fields[item.role]: item.url for item in request.inputs}


def _lists(request: TaskRequest) -> dict[str, Any]:
    frames = {"first_frame": {"type": "first_frame"}, "last_frame": {"type": "end_frame"}}
    lists = {
        "image_list": [
            {"image_url": item.url, **frames.get(item.role, {})} for item in request.inputs if item.type == "image"
        ],
        "video_list": [
            {"video_url": item.url, "refer_type": "feature"} for item in request.inputs if item.type == "video"
        ],
    }
    return {name: items for name, items in lists.items() if items}
