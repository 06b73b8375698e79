"""Reads a submission of the newer generation of the Kling protocol as strictly as the provider."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.films import Film
from sandbox.kling.errors import error, invalid
from sandbox.wire import Refusal

Fields = Mapping[str, Any]

MAX_PROMPT = 3072
RATIOS = ("16:9", "9:16", "1:1", "21:9")
RESOLUTIONS = ("720p", "1080p", "4k")
DURATIONS = range(3, 31)
MAX_IMAGES, MAX_IMAGES_BESIDE_VIDEO = 10, 4
FRAMES = ("first_frame", "last_frame")
TYPES = {"image-to-video": FRAMES, "omni-video": (*FRAMES, "refer_image", "feature_video")}
AUDIO = {"text-to-video": ("native", "off"), "image-to-video": ("native", "off"), "omni-video": ("native", "off")}
SETTINGS = ("multi_shot", "audio", "resolution", "aspect_ratio", "duration")
OPTIONS = ("callback_url", "external_task_id", "watermark_info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid submission: the film to make. `path` is its address in the older generation; `name` is the caller's own
    for the job."""

    prompt: str
    seconds: int
    ratio: str
    sound: bool
    name: str
    path: str = ""

    def film(self, *, partial: bool) -> Film:
        """Returns the film; half as long if partial."""
        seconds = max(1, self.seconds // 2) if partial else self.seconds
        return Film(ratio=self.ratio, seconds=seconds, sound=self.sound)


def order_of(endpoint: str, model: str, body: bytes) -> Order:
    """Returns the order of a submission to one of the three endpoints. Raises Refusal."""
    fields = fields_of(body)
    check_model(model)
    content = "prompt" if endpoint == "text-to-video" else "contents"
    check_names(fields, (content, "settings", "options"))
    prompt, types = contents(endpoint, fields)
    settings = section(fields, "settings", SETTINGS)
    check_settings(endpoint, model, settings, types)
    options = section(fields, "options", OPTIONS)
    return Order(
        prompt=prompt,
        seconds=settings.get("duration", 5),
        ratio=settings.get("aspect_ratio", "16:9"),
        sound=model.endswith("-turbo") or settings.get("audio") == "native",
        name=str(options.get("external_task_id") or ""),
    )


def fields_of(body: bytes) -> Fields:
    """Returns the body's JSON object. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise invalid("the body is no valid JSON") from problem
    if not isinstance(fields, dict):
        raise invalid("the body must be a JSON object")
    return fields


def check_model(model: str) -> None:
    if model == "no-such-model":
        raise Refusal(error(404, 1203, f"Model {model} is not supported"))


def check_names(fields: Fields, known: tuple[str, ...]) -> None:
    for name in fields:
        if name not in known:
            raise invalid(f"unknown parameter: {name}")


def section(fields: Fields, name: str, known: tuple[str, ...]) -> Fields:
    """Returns one of the body's objects, empty if absent. Raises Refusal."""
    value = fields.get(name, {})
    if not isinstance(value, dict):
        raise invalid(f"{name} must be an object")
    check_names(value, known)
    return value


def contents(endpoint: str, fields: Fields) -> tuple[str, Counter[str]]:
    """Returns the prompt and the number of inputs of each type. Raises Refusal."""
    if endpoint == "text-to-video":
        return prompt_of(fields.get("prompt")), Counter()
    items = fields.get("contents")
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise invalid("contents cannot be empty")
    prompts = [item.get("text") for item in items if item.get("type") == "prompt"]
    if len(prompts) != 1:
        raise invalid("contents must have one prompt")
    media = [item for item in items if item.get("type") != "prompt"]
    check_media(endpoint, media)
    types = Counter(str(item["type"]) for item in media)
    check_types(endpoint, types)
    return prompt_of(prompts[0]), types


def prompt_of(prompt: Any) -> str:
    if not isinstance(prompt, str) or not 0 < len(prompt) <= MAX_PROMPT:
        raise invalid(f"prompt must have 1 to {MAX_PROMPT} characters")
    return prompt


def check_media(endpoint: str, media: list[Fields]) -> None:
    names = ("type", "url", "id") if endpoint == "omni-video" else ("type", "url")
    for item in media:
        check_names(item, names)
        if item.get("type") not in TYPES[endpoint]:
            raise invalid(f"contents type is not supported: {item.get('type')}")
        if not str(item.get("url")).startswith(("https://", "http://")):
            raise invalid("contents url is invalid")
    ids = [item["id"] for item in media if "id" in item]
    if len(set(ids)) < len(ids):
        raise invalid("contents id must not be duplicated")


def check_types(endpoint: str, types: Counter[str]) -> None:
    if any(types[name] > 1 for name in (*FRAMES, "feature_video")):
        raise invalid("first_frame, last_frame and feature_video are accepted once")
    if types["last_frame"] and not types["first_frame"]:
        raise invalid("last frame only is not supported")
    if endpoint == "image-to-video" and not types["first_frame"]:
        raise invalid("first_frame is required")
    if types["refer_image"] > (MAX_IMAGES_BESIDE_VIDEO if types["feature_video"] else MAX_IMAGES):
        raise invalid("too many refer_image")


def check_settings(endpoint: str, model: str, settings: Fields, types: Counter[str]) -> None:
    """Checks types, values and combinations. Raises Refusal."""
    is_turbo = model.endswith("-turbo")
    if is_turbo and ("audio" in settings or "multi_shot" in settings or types["last_frame"]):
        raise invalid("this model has no audio, multi_shot and last_frame")
    choices = {"audio": AUDIO[endpoint], "resolution": RESOLUTIONS, "aspect_ratio": RATIOS, "duration": DURATIONS}
    for name, values in choices.items():
        value = settings.get(name)
        if name in settings and (isinstance(value, bool | float) or value not in values):
            raise invalid(f"settings.{name} value '{value}' is invalid")
    if not isinstance(settings.get("multi_shot", True), bool):
        raise invalid("settings.multi_shot must be a boolean")
    check_ratio(endpoint, settings, types)
    if types["feature_video"] and (settings.get("audio") == "native" or settings.get("multi_shot") is False):
        raise invalid("a feature_video takes audio off and multi_shot only")


def check_ratio(endpoint: str, settings: Fields, types: Counter[str]) -> None:
    has_picture = types["first_frame"] or types["feature_video"]
    if endpoint == "image-to-video" and "aspect_ratio" in settings:
        raise invalid("settings.aspect_ratio is not supported beside a first frame")
    if endpoint == "omni-video" and not has_picture and "aspect_ratio" not in settings:
        raise invalid("settings.aspect_ratio is required without a first frame or a reference video")
