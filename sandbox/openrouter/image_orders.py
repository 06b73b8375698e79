"""Reads a call of the OpenRouter Images protocol: returns an order, or refuses the body with a 400."""

import re
from typing import Any

from sandbox import checks
from sandbox.at_once import Order
from sandbox.checks import Invalid, anything, one_of, picture_link, text, whole
from sandbox.openrouter.errors import error, invalid
from sandbox.pictures import Picture
from sandbox.wire import Refusal

EDGES = {"512": 512, "768": 768, "1K": 1024, "1.5K": 1536, "2K": 2048, "4K": 4096}
PIXELS = re.compile(r"([1-9]\d{1,3})x([1-9]\d{1,3})", re.ASCII)
RATIOS = (
    *("1:1", "1:2", "1:4", "1:8", "2:1", "2:3", "2.35:1", "3:2", "3:4", "4:1", "4:3", "4:5", "5:2", "5:4", "5:7"),
    *("7:5", "8:1", "9:16", "16:9", "9:19.5", "19.5:9", "9:20", "20:9", "9:21", "21:9", "auto"),
)
FIELDS = {
    "model": text,
    "prompt": text,
    "n": whole(1, 10),
    "resolution": one_of(*EDGES),
    "aspect_ratio": one_of(*RATIOS),
    "size": lambda value: isinstance(value, str) and (value in EDGES or PIXELS.fullmatch(value) is not None),
    "input_references": lambda value: isinstance(value, list) and all(map(is_reference, value)),
    "quality": one_of("auto", "low", "medium", "high", "xhigh", "max"),
    "background": one_of("auto", "transparent", "opaque"),
    "output_format": one_of("png", "jpeg", "webp"),
    "output_compression": whole(0, 100),
    "seed": whole(-(2**63), 2**63 - 1),
    "provider": lambda value: isinstance(value, dict),
    "stream": lambda value: value is False,
    "session_id": text,
    "trace": anything,
    "user": text,
}


def order_of(body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    try:
        fields = checks.fields_of(body)
        checks.checked(fields, FIELDS, ("model", "prompt"))
    except Invalid as problem:
        raise invalid(problem.field, problem.reason) from problem
    if fields["model"] == "no-such-model":
        raise Refusal(error(404, "Model no-such-model does not exist"))
    if PIXELS.fullmatch(fields.get("size", "")) and ("resolution" in fields or "aspect_ratio" in fields):
        raise invalid("size", "conflicts with resolution or aspect_ratio")
    width, height = size_of(fields.get("size") or fields.get("resolution", "1K"), fields.get("aspect_ratio", "1:1"))

    def picture(index: int) -> Picture:
        output_format = fields.get("output_format", "png")
        prompt = fields["prompt"]
        return Picture(prompt=prompt, width=width, height=height, index=index, output_format=output_format)

    return Order(prompt=fields["prompt"], count=fields.get("n", 1), picture=picture)


def is_reference(item: Any) -> bool:
    """Checks for `{"type": "image_url", "image_url": {"url": …}}`."""
    link = item.get("image_url") if isinstance(item, dict) and item.get("type") == "image_url" else None
    return isinstance(link, dict) and set(item) == {"type", "image_url"} and picture_link(link.get("url"))


def size_of(size: str, ratio: str) -> tuple[int, int]:
    """Returns width and height; a tier is the longer edge."""
    if match := PIXELS.fullmatch(size):
        return int(match[1]), int(match[2])
    edge = EDGES[size]
    across, down = (float(part) for part in ("1:1" if ratio == "auto" else ratio).split(":"))
    longest = max(across, down)
    return round(edge * across / longest), round(edge * down / longest)
