"""Checks of a request against a channel model's capabilities, shared by the adapters.

Each yields Unsupported with the field's path and a reason. A capability that is absent forbids nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adapters.base import ImageRef, MediaInput, Target, TaskRequest, Unsupported
from adapters.kit.rules import Rules
from common import documents, strict_json
from common.params import tables

BOUNDS = (("least", "min"), ("most", "max"))
MASK = "params.mask"
FIELDS = {
    "image": ("prompt", "n", "image_size", "aspect_ratio", "images", "extra_body"),
    "video": ("prompt", "duration", "resolution", "aspect_ratio", "generate_audio", "inputs", "provider_options"),
}


class FinalCount(NamedTuple):
    """How many images the final request asks for: where it says so, and what, before anybody has checked it; None where
    it leaves the number to the model."""

    field: str
    value: Any


def fields(modality: str, *more: str) -> dict[str, frozenset[str]]:
    """What an adapter declares that expresses the fields which `images` or `video` judge, and these. Raises ValueError
    for a field that no table of `common/params` has."""
    names = frozenset((*FIELDS[modality], *more))
    if unknown := sorted(names - tables.known(modality)):
        raise ValueError(f"{modality} has no field {', '.join(unknown)}")
    return {modality: names}


def images(
    request: TaskRequest,
    capabilities: Mapping[str, Any],
    *,
    max_n: int,
    max_images: int,
    types: Sequence[str] = (),
    count: FinalCount | None = None,
) -> Iterator[Unsupported]:
    """Prompt, count, reference images and mask. `max_n` and `max_images` are the protocol's own limits, which
    capabilities can only narrow; `types` are the content types that it takes, none for all. `count` is needed where it
    is not `extra_body.n` or `n`."""
    yield from prompt(request, capabilities)
    yield from image_count(count or final_count(request), min(capabilities.get("max_n", max_n), max_n))
    limit = min(capabilities.get("max_images", max_images), max_images)
    yield from at_most("params.images", len(request.images), limit)
    for index, image in enumerate(request.images):
        yield from _file(f"params.images[{index}].image_url", image, capabilities, types)
    if request.mask is not None:
        yield from _file(MASK, request.mask, capabilities, types)


def _file(field: str, image: ImageRef, capabilities: Mapping[str, Any], types: Sequence[str]) -> Iterator[Unsupported]:
    """Bytes of ours must be taken, and of a type that is."""
    if image.stored is None:
        return
    if capabilities.get("data_url", True) is False:
        yield Unsupported(field=field, reason="must be an http or https URL here")
    elif types and image.stored.content_type not in types:
        names = ", ".join(name.removeprefix("image/").upper() for name in types)
        yield Unsupported(field=field, reason=f"must be one of {names} here")


def mask(request: TaskRequest, *, has_images: bool) -> Iterator[Unsupported]:
    """Of a protocol that has a field `mask`: it must mean one of the images, and be given once."""
    if request.mask is not None and not has_images:
        yield Unsupported(field=MASK, reason="needs a reference image")
    if request.mask is not None and "mask" in request.extra_body:
        yield Unsupported(field="params.extra_body.mask", reason="cannot stand beside a mask that is a file")


def final_count(request: TaskRequest) -> FinalCount:
    """`extra_body` counts, since it wins."""
    if "n" in request.extra_body:
        return FinalCount(field="params.extra_body.n", value=request.extra_body["n"])
    return FinalCount(field="params.n", value=request.n)


def image_count(final: FinalCount, limit: int) -> Iterator[Unsupported]:
    field, count = final
    if count is None:
        yield Unsupported(field=field, reason="is required here: without it models make different numbers of images")
    elif not isinstance(count, int) or isinstance(count, bool) or count < 1:
        yield Unsupported(field=field, reason="must be a whole number, 1 or more", is_illegal=True)
    else:
        yield from at_most(field, count, limit)


def stands_for(request: TaskRequest, *names: str) -> bool:
    """Whether `extra_body` gives one of these fields, and so stands for what would be derived in its place."""
    return any(name in request.extra_body for name in names)


def reserved(place: str, values: object, forbidden: Sequence[str]) -> Iterator[Unsupported]:
    """The names that stand at a place although they are ours to set; nothing for what is no object."""
    for name in forbidden:
        if name in documents.shown(values):
            yield Unsupported(field=f"{place}.{name}", reason="cannot be set by the caller")


def once(*problems: Unsupported) -> Iterator[Unsupported]:
    """The first problem of each field."""
    first: dict[str, Unsupported] = {}
    for problem in problems:
        first.setdefault(problem.field, problem)
    yield from first.values()


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


def listed(field: str, value: object, allowed: object) -> Iterator[Unsupported]:
    """The value must be in the list, where there is one."""
    if isinstance(allowed, list) and value not in allowed:
        yield Unsupported(field=field, reason=f"must be one of {', '.join(map(str, allowed))} here")


def at_most(field: str, count: int, limit: object) -> Iterator[Unsupported]:
    if isinstance(limit, int) and count > limit:
        yield Unsupported(field=field, reason=f"must be at most {limit} here")


def prompt(request: TaskRequest, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    yield from at_most_characters("params.prompt", request.prompt, capabilities.get("prompt_max"))


def at_most_characters(field: str, text: str, limit: int | None) -> Iterator[Unsupported]:
    if limit is not None and len(text) > limit:
        yield Unsupported(field=field, reason=f"must be at most {limit} characters long here")


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
