"""Requests of `ark_content_tasks`: what can be expressed, and what is sent. Pure.

Capabilities: `durations`, `resolutions`, `ratios`, `roles` ({role: most}), `frames_exclusive_refs` (true), `audio`
(switch | always | never), `prompt_max`, `max_inputs`. What is absent is passed on and left to the provider.
"""

from collections.abc import Iterator
from typing import Any

from adapters.base import Billed, MediaInput, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import film_checks, rules

PATH = "/contents/generations/tasks"
OPTIONS = {
    "camera_fixed": rules.BOOLEAN,
    "draft": rules.BOOLEAN,
    "execution_expires_after": rules.POSITIVE,
    "omni_reference_task_type": rules.TEXT,
    "output_format": rules.TEXT,
    "priority": rules.COUNT,
    "return_last_frame": rules.BOOLEAN,
    "safety_identifier": rules.TEXT,
    "seed": rules.SEED,
    "service_tier": rules.TEXT,
    "tools": rules.OBJECTS,
    "watermark": rules.BOOLEAN,
}
# Upstream fields that the portable ones fill; and names that are ours to set.
DERIVED = ("content", "ratio", "generate_audio", "frames", "framespersecond")
DERIVED_OR_OURS = (*DERIVED, "model", "prompt", "duration", "resolution", "aspect_ratio", "inputs", "callback_url")


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    yield from film_checks.video(request, target.capabilities)
    yield from film_checks.options(request, OPTIONS, DERIVED_OR_OURS, target)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """Sound is always asked for or declined in so many words, because the provider's default is on, except of models
    that know no sound."""
    body: dict[str, Any] = {
        "model": target.upstream_model,
        "content": content(request),
        "duration": request.duration,
        "resolution": request.resolution,
        "ratio": request.aspect_ratio,
    }
    audio = target.capabilities.get("audio", "switch")
    if audio != "never":
        body["generate_audio"] = audio == "always" or request.generate_audio is True
    body.update(request.provider_options)
    return UpstreamRequest(path=PATH, body=body, billed=Billed(count=1, tier=request.resolution))


def content(request: TaskRequest) -> list[dict[str, Any]]:
    """The prompt, then the inputs in their order."""
    return [{"type": "text", "text": request.prompt}, *map(_item, request.inputs)]


def _item(item: MediaInput) -> dict[str, Any]:
    kind = f"{item.type}_url"
    return {"type": kind, kind: {"url": item.url}, "role": film_checks.role_of(item)}
