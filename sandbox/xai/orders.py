"""Reads a call of xAI's Images protocol: returns an order, or refuses the body with a 400."""

from dataclasses import dataclass
from typing import Any

from sandbox import checks
from sandbox.at_once import Order
from sandbox.checks import Check, Invalid, one_of, picture_link, text, whole
from sandbox.pictures import Picture
from sandbox.wire import Refusal
from sandbox.xai import errors as xai_errors

MAX_REFERENCES = 5
EDGES = {"1k": 1024, "2k": 2048}
RATIOS = (
    *("1:1", "3:4", "4:3", "9:16", "16:9", "2:3", "3:2", "9:19.5", "19.5:9", "9:20", "20:9", "1:2", "2:1"),
    "auto",
)
FIELDS: dict[str, Check] = {
    "model": text,
    "prompt": text,
    "n": whole(1, 10),
    "response_format": one_of("url", "b64_json"),
    "aspect_ratio": one_of(*RATIOS),
    "resolution": one_of(*EDGES),
    "quality": one_of("low", "medium"),
    "user": text,
}
EDIT_FIELDS: dict[str, Check] = {
    **FIELDS,
    "image": lambda value: is_image(value),
    "images": lambda value: isinstance(value, list) and len(value) <= MAX_REFERENCES and all(map(is_image, value)),
    "mask": lambda value: is_image(value),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An order, and whether its pictures are to be URLs."""

    order: Order
    wants_urls: bool


def call_of(body: bytes, *, is_edit: bool) -> Call:
    """Returns the body's call. Raises Refusal."""
    try:
        fields = checks.fields_of(body)
        checks.checked(fields, EDIT_FIELDS if is_edit else FIELDS, ("model", "prompt"))
        if is_edit and ("image" in fields) == ("images" in fields):
            raise Invalid("image", "or images must be given, not both")
    except Invalid as problem:
        raise xai_errors.invalid(problem.field, problem.reason) from problem
    if fields["model"] == "no-such-model":
        raise Refusal(xai_errors.no_model(fields["model"]))
    edge = EDGES[fields.get("resolution", "1k")]
    ratio = fields.get("aspect_ratio", "auto")
    across, down = (float(part) for part in ("1:1" if ratio == "auto" else ratio).split(":"))
    width, height = (round(edge * side / max(across, down)) for side in (across, down))

    def picture(index: int) -> Picture:
        prompt = fields["prompt"]
        return Picture(prompt=prompt, width=width, height=height, index=index, output_format="jpeg")

    order = Order(prompt=fields["prompt"], count=fields.get("n", 1), picture=picture)
    return Call(order=order, wants_urls=fields.get("response_format", "url") == "url")


def is_image(value: Any) -> bool:
    """Checks for `{"url": …, "type": "image_url"}`; the type is optional."""
    is_object = isinstance(value, dict) and {"url"} <= set(value) <= {"url", "type"}
    return is_object and value.get("type", "image_url") == "image_url" and picture_link(value["url"])
