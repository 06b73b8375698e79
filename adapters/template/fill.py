"""Placeholders: a template's JSON with `{name}` in its texts, and the values that a request has for the names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from adapters.base import TaskRequest
from adapters.kit import inline
from adapters.kit.film_checks import role_of
from adapters.kit.sizes import DEFAULT_RATIO, SizeTable, by_area

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
SIZES = ("size", "width", "height")
ONE_OF_ROLE = {
    "first_frame": "first_frame",
    "last_frame": "last_frame",
    "reference_image": "reference_image",
    "reference_video": "reference_video",
    "reference_audio": "reference_audio",
}
ALL_OF_ROLE = {
    "reference_images": "reference_image",
    "reference_videos": "reference_video",
    "reference_audios": "reference_audio",
}
IMAGE_NAMES = ("model", "prompt", "n", "image_size", "aspect_ratio", *SIZES, "image", "images")
VIDEO_NAMES = (
    "model",
    "prompt",
    "duration",
    "resolution",
    "aspect_ratio",
    *SIZES,
    "generate_audio",
    *ONE_OF_ROLE,
    *ALL_OF_ROLE,
)
NAMES = {"image": IMAGE_NAMES, "video": VIDEO_NAMES}


class Absent(Exception):
    """A text needs a value that the request does not have."""


def used(value: Any) -> frozenset[str]:
    """The names that stand in the texts of a JSON value."""
    return frozenset(name for _, text in texts(value) for name in PLACEHOLDER.findall(text))


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a JSON value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from texts(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, f"{path}[{index}]")


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """The value with its placeholders replaced. A text that is one placeholder becomes the value with its type; keys
    and items without a value are left out, and so is what they leave empty. Raises Absent."""
    if isinstance(value, str):
        return _text(value, known)
    if isinstance(value, Mapping):
        fields = {name: item[0] for name, part in value.items() if (item := present(part, known))}
        return _unless_emptied(fields, value)
    if isinstance(value, list):
        return _unless_emptied([item[0] for part in value if (item := present(part, known))], value)
    return value


def present(value: Any, known: Mapping[str, Any]) -> tuple[Any, ...]:
    """The filled value alone, nothing where it is absent."""
    try:
        return (filled(value, known),)
    except Absent:
        return ()


def _unless_emptied(result: Any, template: Any) -> Any:
    if template and not result:
        raise Absent
    return result


def _text(text: str, known: Mapping[str, Any]) -> Any:
    if whole := PLACEHOLDER.fullmatch(text):
        return _value(whole[1], known)
    return PLACEHOLDER.sub(lambda match: str(_value(match[1], known)), text)


def _value(name: str, known: Mapping[str, Any]) -> Any:
    if known.get(name) is None:
        raise Absent
    return known[name]


def values_of(request: TaskRequest, model: str, table: SizeTable, tiers: Iterable[str] | None) -> dict[str, Any]:
    """What a request has for each name, before the maps; None for what it does not have."""
    known: dict[str, Any] = {"model": model, "prompt": request.prompt, "aspect_ratio": request.aspect_ratio}
    known.update(_sizes(size_of(request, table, tiers)))
    if request.modality == "image":
        images = inline.links(request.images)
        one = images[0] if images else None
        return {**known, "n": request.n, "image_size": request.image_size, "images": images or None, "image": one}
    known.update(duration=request.duration, resolution=request.resolution, generate_audio=request.generate_audio)
    for name, role in ALL_OF_ROLE.items():
        known[name] = [item.url for item in request.inputs if role_of(item) == role] or None
    for name, role in ONE_OF_ROLE.items():
        known[name] = next((item.url for item in request.inputs if role_of(item) == role), None)
    return known


def tier_of_request(request: TaskRequest, table: SizeTable, tiers: Iterable[str] | None) -> str | None:
    """The tier or resolution asked for; of an image with only a ratio the first of `tiers`, else the smallest."""
    if request.modality == "video":
        return request.resolution
    if request.image_size is not None or request.aspect_ratio is None:
        return request.image_size
    return next(iter(tiers or by_area(table)), None)


def size_of(request: TaskRequest, table: SizeTable, tiers: Iterable[str] | None) -> str | None:
    """The pixel size that the table has for the request, as WIDTHxHEIGHT."""
    tier = tier_of_request(request, table, tiers)
    return table.get(tier or "", {}).get(request.aspect_ratio or DEFAULT_RATIO)


def _sizes(size: str | None) -> dict[str, Any]:
    if size is None:
        return dict.fromkeys(SIZES)
    width, height = map(int, size.split("x"))
    return {"size": size, "width": width, "height": height}
