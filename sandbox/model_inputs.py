"""Reads the input of a hosted model at fal and Replicate: returns an order, or the bad field."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.films import FRAME_SIZES, Film
from sandbox.pictures import SAVE_OPTIONS, Picture

MAX_PROMPT = 32_000
MAX_COUNT = 10
MAX_LINKS = 16
EDGES = (64, 4_096)
DEFAULT_EDGE = 512
SIZE_NAMES = {
    "square": (512, 512),
    "square_hd": (1024, 1024),
    "landscape_16_9": (1024, 576),
    "portrait_16_9": (576, 1024),
}
LINK_SCHEMES = ("https://", "http://", "data:image/")
RESOLUTIONS = ("360p", "480p", "540p", "720p", "1080p", "4k")
Rule = Callable[[Any], bool]


class BadInput(Exception):
    """A field that the model refuses; `kind` is one of missing, extra_forbidden, value_error."""

    def __init__(self, field: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.field, self.kind, self.message = field, kind, message


def is_whole(low: int, high: int) -> Rule:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_PROMPT


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_link(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(LINK_SCHEMES)


def is_links(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= MAX_LINKS and all(map(is_link, value))


def is_size(value: Any) -> bool:
    if isinstance(value, str):
        return value in SIZE_NAMES
    return isinstance(value, dict) and set(value) == {"width", "height"} and all(map(is_whole(*EDGES), value.values()))


COMMON: dict[str, Rule] = {
    "prompt": is_text,
    "negative_prompt": is_text,
    "seed": is_whole(0, 2**32 - 1),
    "aspect_ratio": lambda value: value in FRAME_SIZES,
    "enable_safety_checker": is_flag,
}
IMAGE: dict[str, Rule] = COMMON | {
    "num_images": is_whole(1, MAX_COUNT),
    "num_outputs": is_whole(1, MAX_COUNT),
    "image_size": is_size,
    "width": is_whole(*EDGES),
    "height": is_whole(*EDGES),
    "image_urls": is_links,
    "input_images": is_links,
    "guidance_scale": is_number,
    "guidance": is_number,
    "num_inference_steps": is_whole(1, 100),
    "output_format": lambda value: value in SAVE_OPTIONS,
}
VIDEO: dict[str, Rule] = COMMON | {
    "duration": is_whole(1, 600),
    "resolution": lambda value: value in RESOLUTIONS,
    "generate_audio": is_flag,
    **dict.fromkeys(("image_url", "end_image_url", "image", "last_frame_image"), is_link),
    **dict.fromkeys(("reference_image_urls", "reference_video_urls", "reference_audio_urls"), is_links),
    **dict.fromkeys(("reference_images", "reference_videos", "reference_audios"), is_links),
    "camera_fixed": is_flag,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid input: the media to make."""

    model: str
    is_video: bool
    fields: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.fields["prompt"])

    @property
    def seconds(self) -> int:
        return int(self.fields.get("duration", 5))

    def media(self, partial: bool) -> list[Film | Picture]:
        """Makes the media: half the film, or one picture fewer, if partial."""
        if self.is_video:
            seconds = max(1, self.seconds // 2) if partial else self.seconds
            ratio = self.fields.get("aspect_ratio", "16:9")
            return [Film(ratio=ratio, seconds=seconds, sound=self.fields.get("generate_audio", True))]
        count = self.fields.get("num_images") or self.fields.get("num_outputs") or 1
        return [self._picture(index) for index in range(max(1, count - partial))]

    def _picture(self, index: int) -> Picture:
        size = self.fields.get("image_size") or self.fields
        if isinstance(size, str):
            width, height = SIZE_NAMES[size]
        else:
            width, height = size.get("width", DEFAULT_EDGE), size.get("height", DEFAULT_EDGE)
        output_format = self.fields.get("output_format", "png")
        return Picture(prompt=self.prompt, width=width, height=height, output_format=output_format, index=index)


def order_of(model: str, fields: Any) -> Order:
    """Returns the order in a model's input; a model with `video` in its name makes films. Raises BadInput."""
    if not isinstance(fields, dict):
        raise BadInput("input", "value_error", "Input should be an object")
    is_video = "video" in model
    known = VIDEO if is_video else IMAGE
    if "prompt" not in fields:
        raise BadInput("prompt", "missing", "Field required")
    for name, value in fields.items():
        if name not in known:
            raise BadInput(name, "extra_forbidden", "Extra inputs are not permitted")
        if not known[name](value):
            raise BadInput(name, "value_error", "The value is not accepted")
    return Order(model=model, is_video=is_video, fields=fields)
