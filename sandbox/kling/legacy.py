"""Reads a submission to `/v1/videos/…`, the older generation of the Kling protocol, as strictly as the provider."""

from typing import Any

from sandbox.kling.errors import invalid
from sandbox.kling.orders import FRAMES, Fields, Order, check_model, check_names, fields_of, prompt_of

MODES = ("std", "pro", "4k")
RATIOS = ("16:9", "9:16", "1:1")
COMMON = ("model_name", "prompt", "mode", "duration", "sound", "callback_url", "external_task_id")
KNOWN = {
    "text2video": (*COMMON, "aspect_ratio", "negative_prompt", "cfg_scale"),
    "image2video": (*COMMON, "image", "image_tail", "negative_prompt", "cfg_scale"),
    "omni-video": (*COMMON, "aspect_ratio", "image_list", "video_list"),
}
LISTS = {"image_list": ("image_url", "type"), "video_list": ("video_url", "refer_type")}


def order_of(endpoint: str, body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    fields = fields_of(body)
    check_names(fields, KNOWN[endpoint])
    if not fields.get("model_name"):
        raise invalid("model_name is required")
    check_model(fields["model_name"])
    check_values(fields)
    if endpoint == "image2video" and not is_link(fields.get("image")):
        raise invalid("image is required")
    for name, known in LISTS.items():
        check_list(fields.get(name, []), name, known)
    return Order(
        prompt=prompt_of(fields.get("prompt")),
        seconds=int(fields.get("duration", "5")),
        ratio=fields.get("aspect_ratio", "16:9"),
        sound=fields.get("sound") == "on",
        name=str(fields.get("external_task_id") or ""),
        path=endpoint,
    )


def check_values(fields: Fields) -> None:
    """Checks closed lists of values. Raises Refusal."""
    seconds = tuple(str(number) for number in range(3, 31))
    choices = {"mode": MODES, "duration": seconds, "sound": ("on", "off"), "aspect_ratio": RATIOS}
    for name, values in choices.items():
        if name in fields and fields[name] not in values:
            raise invalid(f"{name} value '{fields[name]}' is invalid")
    if "image_tail" in fields and not is_link(fields["image_tail"]):
        raise invalid("image_tail is invalid")


def check_list(items: Any, name: str, known: tuple[str, ...]) -> None:
    """Checks a list of objects with a link each. Raises Refusal."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise invalid(f"{name} must be a list of objects")
    for item in items:
        check_names(item, known)
        if not is_link(item.get(known[0])):
            raise invalid(f"{name} {known[0]} is invalid")
        if item.get("type", FRAMES[0]) not in (FRAMES[0], "end_frame") or item.get("refer_type") not in (
            None,
            "feature",
        ):
            raise invalid(f"{name} type is invalid")


def is_link(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("https://", "http://"))
