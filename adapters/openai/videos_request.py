"""Requests of `openai_videos`: what can be expressed, and what is sent. Pure.

Capabilities: `durations`, `resolutions`, `ratios`, `size_table` (replaces SIZES), `roles`, `audio` (always | never; see
`_audio`), `prompt_max`, `max_inputs`. The protocol itself takes one picture, as the first frame.
Facts: OpenAI's API reference of videos and its SDK 3.54.0; vLLM-Omni's documentation of its videos API.
"""

from collections.abc import Iterator
from typing import Any

from adapters.base import Billed, FilePart, ImageRef, MediaInput, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, film_checks, references, rules
from adapters.kit.sizes import SizeTable

PATH = "/videos"
OPENAI, VLLM_OMNI = "openai", "vllm_omni"
SIZES = {
    "720p": {"16:9": "1280x720", "9:16": "720x1280"},
    "1080p": {"16:9": "1792x1024", "9:16": "1024x1792"},
}
NUMBER = rules.rule(lambda value: isinstance(value, int | float) and not isinstance(value, bool), "a number")
# The protocol itself has no options; what a dialect adds to it.
OPTIONS: dict[str, rules.Rules] = {
    OPENAI: {},
    VLLM_OMNI: {
        "boundary_ratio": NUMBER,
        "flow_shift": NUMBER,
        "fps": rules.POSITIVE,
        "guidance_scale": NUMBER,
        "guidance_scale_2": NUMBER,
        "negative_prompt": rules.TEXT,
        "num_inference_steps": rules.POSITIVE,
        "seed": rules.COUNT,
        "true_cfg_scale": NUMBER,
    },
}
# Upstream fields that the portable ones fill, and what would buy another length or size.
DERIVED = ("seconds", "size", "input_reference", "generate_sound", "width", "height", "num_frames", "extra_params")
DERIVED_OR_OURS = (*DERIVED, "model", "prompt", "duration", "resolution", "aspect_ratio", "inputs", "callback_url")


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    capabilities = target.capabilities
    yield from film_checks.prompt(request, capabilities)
    yield from film_checks.duration(request, capabilities)
    yield from _size(request, target)
    yield from _audio(request, target)
    yield from list(_inputs(request)) or film_checks.input_counts(request, capabilities)
    yield from film_checks.options(request, OPTIONS[dialect_of(target)], DERIVED_OR_OURS, target)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """A form, with the first frame as a file in it, or JSON with its URL, as the channel's `encoding` says.

    With neither resolution nor ratio no `size` is sent: the provider chooses.
    """
    is_json = target.options.get("encoding") == "json"
    body: dict[str, Any] = {"model": target.upstream_model, "prompt": request.prompt}
    if request.duration is not None:
        body["seconds"] = str(request.duration)
    if request.resolution is not None and request.aspect_ratio is not None:
        body["size"] = size_table(target)[request.resolution][request.aspect_ratio]
    if _has_switch(target):
        body["generate_sound"] = request.generate_audio is True
    if is_json and request.inputs:
        body["input_reference"] = {"image_url": request.inputs[0].url}
    body.update(request.provider_options)
    return UpstreamRequest(
        path=PATH,
        body=body,
        billed=Billed(count=1, tier=request.resolution),
        encoding="json" if is_json else "multipart",
        files=() if is_json else tuple(map(_file, request.inputs)),
    )


def size_table(target: Target) -> SizeTable:
    table: SizeTable = target.capabilities.get("size_table", SIZES)
    return table


def dialect_of(target: Target) -> str:
    dialect: str = target.options.get("dialect", OPENAI)
    return dialect


def _has_switch(target: Target) -> bool:
    """Whether sound is the caller's choice: never in the protocol itself."""
    return dialect_of(target) == VLLM_OMNI and target.capabilities.get("audio", "switch") == "switch"


def _file(item: MediaInput) -> FilePart:
    image = ImageRef(url=item.url) if item.stored is None else ImageRef(stored=item.stored)
    return FilePart(field="input_reference", image=image)


def _size(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Both or neither, and in the size table."""
    resolution, ratio, table = request.resolution, request.aspect_ratio, size_table(target)
    if resolution is None and ratio is None:
        return
    if resolution is None or ratio is None:
        field = "params.resolution" if resolution is None else "params.aspect_ratio"
        yield Unsupported(field=field, reason="is needed here: a size is made of resolution and aspect_ratio")
        return
    found = [
        *checks.listed("params.resolution", resolution, target.capabilities.get("resolutions", list(table))),
        *checks.listed("params.aspect_ratio", ratio, target.capabilities.get("ratios")),
    ]
    if not found and resolution not in table:
        found = [Unsupported(field="params.resolution", reason=f"{resolution} has no pixel size here")]
    if not found:
        found = list(checks.listed("params.aspect_ratio", ratio, list(table[resolution])))
    yield from found


def _audio(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """`always` and `never` say what the model does; without them only absence can be promised, for want of a switch."""
    if target.capabilities.get("audio") in ("always", "never"):
        yield from film_checks.audio(request, target.capabilities)
    elif request.generate_audio is not None and not _has_switch(target):
        yield Unsupported(field="params.generate_audio", reason="there is no switch for sound here")


def _inputs(request: TaskRequest) -> Iterator[Unsupported]:
    for index, item in enumerate(request.inputs):
        if item.type != "image" or item.role != "first_frame" or index:
            reason = "one first frame is all that is taken here"
            yield Unsupported(field=f"params.inputs[{index}].role", reason=reason)
        if item.stored is not None and item.stored.content_type not in references.TYPES:
            yield Unsupported(field=f"params.inputs[{index}].url", reason="must be PNG, JPEG or WebP here")
