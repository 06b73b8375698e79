"""Requests of `openrouter_videos`: what can be expressed, and what is sent. Pure.

Capabilities: `durations`, `resolutions`, `ratios`, `roles` ({role: most}), `frames_exclusive_refs` (true), `audio`
(switch | always | never), `prompt_max`, `max_inputs`. Video and audio references need a `roles` that lists them:
models that know none ignore them. Facts: OpenRouter's SDK 1.3.84.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.base import Billed, MediaInput, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, film_checks, rules

PATH = "/videos"
RESOLUTIONS = ("360p", "480p", "720p", "768p", "1080p", "1K", "2K", "4K")
SPELLINGS = {name.lower(): name for name in RESOLUTIONS}
RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"]
OPTIONS = {
    "provider": rules.rule(lambda value: isinstance(value, dict) and bool(value), "an object"),
    "seed": rules.COUNT,
    "session_id": rules.TEXT,
}
# Upstream fields that the portable ones fill, and what would buy something else or answer elsewhere.
DERIVED = ("generate_audio", "frame_images", "input_references", "size", "upscale_factor")
OURS = ("model", "prompt", "duration", "resolution", "aspect_ratio", "inputs", "callback_url")
DERIVED_OR_OURS = (*DERIVED, *OURS)
# What the providers behind it call the same things, in the options that are passed through to them.
THEIR_WORDS = frozenset(DERIVED_OR_OURS) | {
    *("seconds", "durationseconds", "duration_seconds", "frames", "num_frames", "ratio", "aspectratio"),
    *("previous_job_id", "generateaudio", "samplecount", "sample_count", "n", "webhook", "webhook_url", "storageuri"),
}


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    found = list(film_checks.video(request, target.capabilities))
    yield from found
    yield from _protocol(request, target.capabilities, {problem.field for problem in found})
    yield from film_checks.options(request, OPTIONS, DERIVED_OR_OURS, target)
    for name in _words(request.provider_options.get("provider")):
        if name.lower() in THEIR_WORDS:
            yield Unsupported(field="params.provider_options.provider", reason=f"{name} is set by the service")


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """Sound is always asked for or declined in so many words: the default is the model's, and mostly on."""
    audio = target.capabilities.get("audio", "switch")
    body: dict[str, Any] = {
        "model": target.upstream_model,
        "prompt": request.prompt,
        "generate_audio": audio == "always" or (audio != "never" and request.generate_audio is True),
    }
    if request.duration is not None:
        body["duration"] = request.duration
    if request.resolution is not None:
        body["resolution"] = SPELLINGS[request.resolution.lower()]
    if request.aspect_ratio is not None:
        body["aspect_ratio"] = request.aspect_ratio
    if frames := [_frame(item) for item in request.inputs if item.role != "reference"]:
        body["frame_images"] = frames
    if references := [_link(item) for item in request.inputs if item.role == "reference"]:
        body["input_references"] = references
    body.update(request.provider_options)
    return UpstreamRequest(path=PATH, body=body, billed=Billed(count=1, tier=request.resolution))


def _protocol(request: TaskRequest, capabilities: Mapping[str, Any], refused: set[str]) -> Iterator[Unsupported]:
    """What the protocol itself cannot say, of fields that are not `refused` already."""
    resolution, ratio = request.resolution, request.aspect_ratio
    if resolution is not None and resolution.lower() not in SPELLINGS and "params.resolution" not in refused:
        yield from checks.listed("params.resolution", resolution, list(RESOLUTIONS))
    if ratio is not None and "params.aspect_ratio" not in refused:
        yield from checks.listed("params.aspect_ratio", ratio, RATIOS)
    for index, item in enumerate(request.inputs):
        if item.type != "image" and "roles" not in capabilities:
            reason = f"a reference of type {item.type} is not known to be used here"
            yield Unsupported(field=f"params.inputs[{index}].type", reason=reason)


def _frame(item: MediaInput) -> dict[str, Any]:
    return {**_link(item), "frame_type": item.role}


def _link(item: MediaInput) -> dict[str, Any]:
    kind = f"{item.type}_url"
    return {"type": kind, kind: {"url": item.url}}


def _words(value: object) -> Iterator[str]:
    """The names in a JSON value, at any depth."""
    if isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
