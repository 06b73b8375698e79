"""Reads a submission of the DashScope video protocol as strictly as the provider.

Models named `wan2.1` to `wan2.6` take the fields of the older generation, all others a list of media.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.dashscope.errors import invalid, no_model
from sandbox.films import FRAME_SIZES, Film

Fields = Mapping[str, Any]

OLDER = re.compile(r"wanx?2\.[1-6]\b")
MAX_SEED = 2**31 - 1
RESOLUTIONS = ("480P", "720P", "1080P", "4K")
RATIOS = ("16:9", "9:16", "1:1", "4:3", "3:4", "21:9")
FRAMES = ("first_frame", "last_frame")
TYPES = (*FRAMES, "reference_image", "reference_video", "reference_audio")
INPUT = ("prompt", "negative_prompt", "media")
OLDER_INPUT = ("prompt", "negative_prompt", "img_url", "reference_urls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid submission: the film to make."""

    prompt: str
    seconds: int
    ratio: str
    sound: bool

    def film(self, *, partial: bool) -> Film:
        """Returns the film; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio=self.ratio, seconds=seconds, sound=self.sound)


def is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def is_whole(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


COMMON: Mapping[str, Callable[[Any], bool]] = {
    "resolution": lambda value: value in RESOLUTIONS,
    "duration": is_whole(2, 30),
    "seed": is_whole(0, MAX_SEED),
    "prompt_extend": is_switch,
    "watermark": is_switch,
    "audio": is_switch,
    "enable_thinking": is_switch,
    "shot_type": lambda value: value in ("single", "multi"),
}
PARAMETERS = {**COMMON, "ratio": lambda value: value in RATIOS}
OLDER_PARAMETERS = {**COMMON, "size": lambda value: isinstance(value, str) and ratio_of(value) is not None}


def order_of(body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    fields = fields_of(body)
    check_names(fields, ("model", "input", "parameters"))
    model = fields.get("model")
    if not isinstance(model, str) or not model:
        raise invalid("Field required: model")
    if model == "no-such-model":
        raise no_model(model)
    is_older = OLDER.match(model) is not None
    inputs, parameters = section(fields, "input"), section(fields, "parameters")
    check_names(inputs, OLDER_INPUT if is_older else INPUT)
    check_inputs(inputs)
    check_parameters(parameters, OLDER_PARAMETERS if is_older else PARAMETERS)
    size_ratio = ratio_of(parameters.get("size", ""))
    return Order(
        prompt=prompt_of(inputs),
        seconds=parameters.get("duration", 5),
        ratio=size_ratio or parameters.get("ratio", "16:9"),
        sound=parameters.get("audio", True),
    )


def fields_of(body: bytes) -> Fields:
    """Returns the body's JSON object. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise invalid("The body is no valid JSON.") from problem
    if not isinstance(fields, dict):
        raise invalid("The body must be a JSON object.")
    return fields


def section(fields: Fields, name: str) -> Fields:
    """Returns one of the body's two objects. Raises Refusal."""
    value = fields.get(name, {})
    if not isinstance(value, dict):
        raise invalid(f"{name} must be an object")
    return value


def check_names(fields: Fields, known: tuple[str, ...]) -> None:
    for name in fields:
        if name not in known:
            raise invalid(f"Unknown field: {name}")


def check_parameters(parameters: Fields, known: Mapping[str, Callable[[Any], bool]]) -> None:
    """Checks types and bounds. Raises Refusal."""
    check_names(parameters, tuple(known))
    for name, value in parameters.items():
        if not known[name](value):
            raise invalid(f"parameters.{name} is invalid: {value}")


def check_inputs(inputs: Fields) -> None:
    """Checks the media of either generation. Raises Refusal."""
    links = [inputs["img_url"]] if "img_url" in inputs else inputs.get("reference_urls", [])
    if not isinstance(links, list) or not all(map(is_link, links)):
        raise invalid("url error, please check url")
    media = inputs.get("media", [])
    if not isinstance(media, list) or not all(isinstance(item, dict) for item in media):
        raise invalid("input.media must be a list of objects")
    for item in media:
        check_names(item, ("type", "url"))
        if item.get("type") not in TYPES or not is_link(item.get("url")):
            raise invalid("url error, please check the type and the url of input.media")
    check_types(Counter(str(item["type"]) for item in media))


def check_types(types: Counter[str]) -> None:
    """Checks which media may be combined. Raises Refusal."""
    frames = sum(types[name] for name in FRAMES)
    if any(types[name] > 1 for name in FRAMES) or (frames and types.total() > frames):
        raise invalid("input.media has one first and one last frame, or references")
    if types["last_frame"] and not types["first_frame"]:
        raise invalid("input.media has a last frame without a first one")


def prompt_of(inputs: Fields) -> str:
    prompt, negative = inputs.get("prompt"), inputs.get("negative_prompt", "")
    if not isinstance(prompt, str) or not prompt or not isinstance(negative, str):
        raise invalid("Field required: input.prompt")
    return prompt


def is_link(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("https://", "http://", "oss://"))


def ratio_of(size: str) -> str | None:
    """Returns the ratio nearest to pixels such as 1280*720; None if they are no pixels."""
    match = re.fullmatch(r"([1-9]\d{2,3})\*([1-9]\d{2,3})", size, re.ASCII)
    if match is None:
        return None
    asked = int(match[1]) / int(match[2])
    shapes = {ratio: width / height for ratio, (width, height) in FRAME_SIZES.items()}
    return min(shapes, key=lambda ratio: abs(shapes[ratio] - asked))
