"""Checks of a film request against a channel model's capabilities, beside those in `adapters/kit/checks.py`."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.base import MediaInput, Target, TaskRequest, Unsupported
from adapters.kit.checks import LONG, at_most, listed
from adapters.kit.rules import Rules
from common import strict_json

BOUNDS = (("least", "min"), ("most", "max"))


def video(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """All that the capabilities of a video model restrict."""
    yield from prompt(request, capabilities)
    yield from duration(request, capabilities)
    yield from listed("params.resolution", request.resolution, capabilities.get("resolutions"))
    yield from listed("params.aspect_ratio", request.aspect_ratio, capabilities.get("ratios"))
    yield from audio(request, capabilities)
    yield from input_counts(request, capabilities)
    yield from input_roles(request, capabilities)


def options(request: TaskRequest, known: Rules, taken: Sequence[str], target: Target) -> Iterator[Unsupported]:
    """`provider_options` that the protocol knows, but for the upstream fields that are ours to set (`taken`). One that
    it does not know passes where the operator names it, to the place where the others go."""
    for name, value in request.provider_options.items():
        field = strict_json.field("params.provider_options", name)
        if name in taken:
            yield Unsupported(field=field, reason="is set by the service")
        elif name not in known and not is_named(name, target):
            yield Unsupported(field=field, reason="is not an option of this protocol")
        elif name in known and (wanted := known[name](value)):
            yield Unsupported(field=field, reason=f"must be {wanted}")


def is_named(option: str, target: Target) -> bool:
    """Whether the channel model lets callers set the option, or a part of it, or sets it itself."""
    return option in target.fixed or any(re.split(r"[.\[]", path)[0] == option for path in target.extra_fields)


def prompt(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    yield from at_most("params.prompt", len(request.prompt), capabilities.get("prompt_max"), LONG)


def duration(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """Never clamped: the length is what is billed."""
    allowed, seconds = capabilities.get("durations"), request.duration
    yield from listed("params.duration", seconds, allowed)
    if isinstance(allowed, dict) and not allowed.get("min", 1) <= (seconds or 0) <= allowed.get("max", float("inf")):
        bounds = " and ".join(f"at {word} {allowed[name]}" for word, name in BOUNDS if name in allowed)
        yield Unsupported(field="params.duration", reason=f"must be {bounds} here")


def audio(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """`audio` is "switch" (the default), "always" or "never"; absence of the field suits each."""
    mode = capabilities.get("audio", "switch")
    if request.generate_audio is True and mode == "never":
        yield Unsupported(field="params.generate_audio", reason="this model makes no sound")
    if request.generate_audio is False and mode == "always":
        yield Unsupported(field="params.generate_audio", reason="this model always makes sound")


def role_of(item: MediaInput) -> str:
    """The role in the words that most providers share: first_frame, last_frame, reference_image, reference_video…"""
    return f"reference_{item.type}" if item.role == "reference" else item.role


def input_counts(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """`max_inputs` for all, `roles` with the most of each; a role that is not listed is not taken."""
    yield from at_most("params.inputs", len(request.inputs), capabilities.get("max_inputs"))
    limits = capabilities.get("roles")
    if limits is None:
        return
    seen: Counter[str] = Counter()
    for index, item in enumerate(request.inputs):
        role = role_of(item)
        seen[role] += 1
        if seen[role] > limits.get(role, 0):
            reason = f"at most {limits.get(role, 0)} of {role} here"
            yield Unsupported(field=f"params.inputs[{index}].role", reason=reason)


def input_roles(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """Frames or references, not both; a last frame only after a first; sound only beside a picture."""
    roles = [item.role for item in request.inputs]
    has_frame = "first_frame" in roles or "last_frame" in roles
    is_exclusive = capabilities.get("frames_exclusive_refs", True)
    has_picture = any(item.type != "audio" for item in request.inputs)
    for index, item in enumerate(request.inputs):
        field = f"params.inputs[{index}].role"
        if item.role == "reference" and has_frame and is_exclusive:
            yield Unsupported(field=field, reason="references cannot be combined with frames")
        if item.role == "last_frame" and "first_frame" not in roles:
            yield Unsupported(field=field, reason="a last frame needs a first frame")
        if item.type == "audio" and not has_picture:
            yield Unsupported(field=field, reason="an audio reference needs an image or a video beside it")
