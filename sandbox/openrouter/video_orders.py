"""Reads a call of the OpenRouter Videos protocol: returns an order, or refuses the body with a 400."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.films import FRAME_SIZES, Film
from sandbox.openrouter.errors import error, invalid
from sandbox.wire import Refusal

MAX_SECONDS = 86_400
RESOLUTIONS = ("360p", "480p", "720p", "768p", "1080p", "1K", "2K", "4K")
# The clips have no 3:2.
FILM_RATIOS = {**dict(zip(FRAME_SIZES, FRAME_SIZES, strict=True)), "3:2": "4:3", "2:3": "3:4"}
FRAMES = ("first_frame", "last_frame")
KINDS = ("image_url", "video_url", "audio_url")
SCHEMES = ("https://", "http://", "data:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the film to make."""

    prompt: str
    seconds: int
    ratio: str
    sound: bool

    def film(self, *, partial: bool) -> Film:
        """Returns the film; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio=FILM_RATIOS[self.ratio], seconds=seconds, sound=self.sound)


def order_of(body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    fields = fields_of(body)
    for name, value in fields.items():
        if name not in CHECKS:
            raise invalid(name, "unrecognized key")
        is_good, wanted = CHECKS[name]
        if not is_good(value):
            raise invalid(name, f"expected {wanted}")
    for name in ("model", "prompt"):
        if name not in fields:
            raise invalid(name, "is required")
    if fields["model"] == "no-such-model":
        raise Refusal(error(404, "Model no-such-model does not exist"))
    return Order(
        prompt=fields["prompt"],
        seconds=fields.get("duration", 5),
        ratio=fields.get("aspect_ratio", "16:9"),
        sound=fields.get("generate_audio", True),
    )


def fields_of(body: bytes) -> Mapping[str, Any]:
    """Returns the body's JSON object. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise invalid("body", "is no valid JSON") from problem
    if not isinstance(fields, dict):
        raise invalid("body", "expected an object")
    return fields


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_link(value: Any, names: set[str], kinds: tuple[str, ...]) -> bool:
    """Checks for `{"type": kind, kind: {"url": …}}` with no other names but these."""
    if not isinstance(value, dict) or value.get("type") not in kinds:
        return False
    kind = value["type"]
    link = value.get(kind)
    return (
        set(value) == {"type", kind, *names}
        and isinstance(link, dict)
        and set(link) == {"url"}
        and isinstance(link["url"], str)
        and link["url"].startswith(SCHEMES)
    )


def are_frames(value: Any) -> bool:
    """Checks for at most one frame of each kind."""
    if not isinstance(value, list) or not all(is_link(item, {"frame_type"}, KINDS[:1]) for item in value):
        return False
    kinds = [item["frame_type"] for item in value]
    return set(kinds) <= set(FRAMES) and len(kinds) == len(set(kinds))


def is_provider(value: Any) -> bool:
    """Checks for `{"options": {slug: {…}}}`."""
    options = value.get("options", {}) if isinstance(value, dict) and set(value) <= {"options"} else None
    return isinstance(options, dict) and all(isinstance(item, dict) for item in options.values())


Check = tuple[Callable[[Any], bool], str]
CHECKS: dict[str, Check] = {
    "model": (is_text, "a string"),
    "prompt": (is_text, "a string"),
    "duration": (lambda value: is_whole(value) and 1 <= value <= MAX_SECONDS, "a whole number of seconds"),
    "resolution": (lambda value: value in RESOLUTIONS, " | ".join(RESOLUTIONS)),
    "aspect_ratio": (lambda value: value in FILM_RATIOS, " | ".join(FILM_RATIOS)),
    "generate_audio": (lambda value: isinstance(value, bool), "a boolean"),
    "frame_images": (are_frames, "a list of first and last frames"),
    "input_references": (
        lambda value: isinstance(value, list) and all(is_link(item, set(), KINDS) for item in value),
        "a list of references",
    ),
    "seed": (is_whole, "an integer"),
    "provider": (is_provider, "an object with options by provider"),
    "callback_url": (lambda value: is_text(value) and value.startswith("https://"), "an HTTPS URL"),
    "session_id": (is_text, "a string"),
    "user": (is_text, "a string"),
}
