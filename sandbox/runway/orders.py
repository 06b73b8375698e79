"""Reads a task of the Runway protocol as strictly as the provider: returns an order, or refuses the body with a 400."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.films import FRAME_SIZES, Film
from sandbox.runway.errors import invalid

MAX_SECONDS = 86_400
SCHEMES = ("https://", "runway://", "data:")
# Sizes of all hosted models together.
SIZE_TEXT = (
    "640:360 360:640 832:480 848:480 854:480 864:496 480:832 480:848 480:854 496:864 480:480 640:480 480:640 720:480 "
    "480:720 624:624 640:640 720:544 544:720 752:560 560:752 992:432 1280:720 720:1280 720:720 960:720 720:960 "
    "940:940 960:960 1088:720 720:1088 1104:832 832:1104 1108:832 832:1108 1112:834 834:1112 1460:624 1470:630 "
    "1584:672 1920:1080 1080:1920 1904:1072 1072:1904 1424:1424 1440:1440 1648:1232 1232:1648 1648:1248 1248:1648 "
    "1662:1248 1248:1662 1664:1248 1248:1664 1744:1152 1152:1744 2200:940 2206:946 3840:1646 3840:2160 2160:3840 "
    "3840:2880 2880:3840 2880:2880 3840:3840 auto_480p auto_720p auto_1080p"
)
SIZES = frozenset(SIZE_TEXT.split())
RATIOS = ("adaptive", "21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16")
RESOLUTIONS = ("480p", "720p", "768p", "1080p", "2k", "768P", "2K", "720P", "1080P")
Check = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def is_whole(low: int, high: int) -> Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def one_of(*names: str) -> Check:
    return lambda value: value in names


def items(**fields: Check) -> Check:
    """Returns a check for a list of objects with a URI and exactly these other fields."""
    known = {"uri": lambda value: isinstance(value, str) and value.startswith(SCHEMES), **fields}
    return lambda value: (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, dict) and item.keys() == known.keys() and all(known[name](item[name]) for name in item)
            for item in value
        )
    )


def is_one_each(name: str, *once: str) -> Check:
    """Returns a check that each of these words occurs at most once under the name."""
    return lambda value: all(sum(item[name] == word for item in value) <= 1 for word in once)


SHARED: dict[str, Check] = {
    "promptText": is_text,
    "duration": is_whole(1, MAX_SECONDS),
    "audio": lambda value: isinstance(value, bool),
    "seed": is_whole(0, 2**32 - 1),
    "negativePrompt": is_text,
    "contentModeration": lambda value: isinstance(value, dict),
}
TEXT_TO_VIDEO: dict[str, Check] = {
    **SHARED,
    "model": is_text,
    "ratio": lambda value: value in SIZES or value in RATIOS,
    "resolution": one_of(*RESOLUTIONS),
    "references": items(),
    "referenceVideos": items(type=one_of("video")),
    "referenceAudio": items(type=one_of("audio")),
    "cfgScale": lambda value: isinstance(value, int | float) and 0 <= value <= 1,
    "promptExpansionMode": one_of("disabled", "balanced", "quality"),
}
IMAGE_TO_VIDEO: dict[str, Check] = {
    **TEXT_TO_VIDEO,
    "promptImage": lambda value: (
        items(position=one_of("first", "last"))(value) and is_one_each("position", "first", "last")(value)
    ),
}
ROUTED: dict[str, Check] = {
    **SHARED,
    "resolution": one_of("480p", "720p", "1080p", "4k"),
    "aspectRatio": one_of("16:9", "9:16", "1:1", "4:3", "3:4", "21:9"),
    "referenceImages": lambda value: (
        items(role=one_of("first", "last", "reference"))(value) and is_one_each("role", "first", "last")(value)
    ),
    "referenceVideos": items(role=one_of("source", "reference")),
    "referenceAudio": items(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the film to make, in seconds. `config` is the router's, empty without it."""

    model: str
    config: str
    prompt: str
    seconds: int
    ratio: str
    sound: bool
    resolution: str

    def film(self, *, partial: bool) -> Film:
        """Returns the film; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio=self.ratio, seconds=seconds, sound=self.sound)


def classic_order(body: bytes, *, with_image: bool) -> Order:
    """Returns the order of `text_to_video` or `image_to_video`. Raises Refusal."""
    fields = fields_of(body)
    needed = ("model", "promptText", "duration", *(("promptImage",) if with_image else ()))
    check(fields, IMAGE_TO_VIDEO if with_image else TEXT_TO_VIDEO, needed)
    if fields["model"] == "no-such-model":
        raise invalid("model", reason="No matching discriminator")
    if "ratio" not in fields and "resolution" not in fields:
        raise invalid("ratio", reason="Required")
    return order(fields, fields.get("ratio", "16:9"), model=fields["model"])


def routed_order(body: bytes) -> Order:
    """Returns the order in a body for the router. Raises Refusal."""
    fields = fields_of(body)
    check(fields, {"configId": is_text, "input": lambda value: isinstance(value, dict)}, ("configId", "input"))
    asked = fields["input"]
    check(asked, ROUTED, ("promptText",), "input")
    return order(asked, asked.get("aspectRatio", "16:9"), model="seedance2", config=fields["configId"])


def order(fields: Mapping[str, Any], ratio: str, *, model: str, config: str = "") -> Order:
    return Order(
        model=model,
        config=config,
        prompt=fields["promptText"],
        seconds=fields.get("duration", 5),
        ratio=nearest(ratio),
        sound=fields.get("audio", True),
        resolution=fields.get("resolution", "720p"),
    )


def nearest(ratio: str) -> str:
    """Returns the clip ratio nearest to a size or ratio; 16:9 for one that follows the input."""
    width, _, height = ratio.partition(":")
    if not (width.isdecimal() and height.isdecimal()):
        return "16:9"
    wanted = int(width) / int(height)
    return min(FRAME_SIZES, key=lambda name: abs(FRAME_SIZES[name][0] / FRAME_SIZES[name][1] - wanted))


def fields_of(body: bytes) -> Mapping[str, Any]:
    """Returns the body's JSON object. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise invalid(reason="Invalid JSON") from problem
    if not isinstance(fields, dict):
        raise invalid(reason="Expected an object")
    return fields


def check(fields: Mapping[str, Any], known: Mapping[str, Check], needed: tuple[str, ...], *path: str) -> None:
    """Checks every field by name, type and bounds. Raises Refusal."""
    for name in needed:
        if name not in fields:
            raise invalid(*path, name, reason="Required")
    for name, value in fields.items():
        if name not in known:
            raise invalid(*path, name, reason="Unrecognized key")
        if not known[name](value):
            raise invalid(*path, name)
