"""Reads a call of the DashScope image protocol as strictly as the provider."""

import re
from collections.abc import Mapping
from typing import Any

from sandbox import checks
from sandbox.at_once import Order
from sandbox.checks import Invalid, anything, picture_link, switch, text, whole
from sandbox.dashscope.errors import invalid, no_model
from sandbox.pictures import Picture

MAX_COUNT, MAX_SEQUENCE = 6, 12
MAX_REFERENCES = 10
MIN_PIXELS, MAX_PIXELS = 512**2, 2048**2
TIERS = {"1K": (1024, 1024), "2K": (2048, 2048)}
FIELDS = {"model": text, "input": lambda value: isinstance(value, dict), "parameters": lambda v: isinstance(v, dict)}
INPUT = {"messages": lambda value: isinstance(value, list) and len(value) == 1}
PARAMETERS = {
    "n": whole(1, MAX_SEQUENCE),
    "size": lambda value: dimensions(value) is not None,
    "seed": whole(0, 2**31 - 1),
    "watermark": switch,
    "prompt_extend": switch,
    "enable_sequential": switch,
    "thinking_mode": switch,
    "negative_prompt": lambda value: isinstance(value, str) and len(value) <= 500,
    "color_palette": anything,
    "bbox_list": anything,
}


def order_of(body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    try:
        fields = checks.fields_of(body)
        checks.checked(fields, FIELDS, ("model", "input"))
        parameters = fields.get("parameters", {})
        checks.checked(parameters, PARAMETERS, (), "parameters.")
        count = count_of(parameters)
        prompt, references = message_of(fields["input"])
    except Invalid as problem:
        raise invalid(f"{problem.field} {problem.reason}.") from problem
    if fields["model"] == "no-such-model":
        raise no_model(fields["model"])
    width, height = dimensions(parameters.get("size", "1K")) or TIERS["1K"]
    footer = f"after {references} reference image(s)" if references else ""

    def picture(index: int) -> Picture:
        return Picture(prompt=prompt, width=width, height=height, index=index, footer=footer)

    return Order(prompt=prompt, count=count, picture=picture)


def count_of(parameters: Mapping[str, Any]) -> int:
    """Returns the number of pictures. Raises Invalid."""
    count: int = parameters.get("n", 1)
    if count > MAX_COUNT and not parameters.get("enable_sequential"):
        raise Invalid("parameters.n", f"must be at most {MAX_COUNT}")
    return count


def message_of(given: Mapping[str, Any]) -> tuple[str, int]:
    """Returns the prompt and the number of images of the only message. Raises Invalid."""
    checks.checked(given, INPUT, ("messages",), "input.")
    message = given["messages"][0]
    if not isinstance(message, dict) or message.get("role") != "user" or not isinstance(message.get("content"), list):
        raise Invalid("input.messages", "must be one message of the user with a list as content")
    texts = [part["text"] for part in message["content"] if is_part(part, "text") and text(part["text"])]
    links = [part["image"] for part in message["content"] if is_part(part, "image") and picture_link(part["image"])]
    if len(texts) + len(links) < len(message["content"]) or len(texts) != 1 or len(links) > MAX_REFERENCES:
        raise Invalid("input.messages", f"must hold one text and at most {MAX_REFERENCES} images")
    return texts[0], len(links)


def is_part(part: Any, name: str) -> bool:
    return isinstance(part, dict) and set(part) == {name}


def dimensions(size: Any) -> tuple[int, int] | None:
    """Returns width and height for `WIDTH*HEIGHT` or a tier's name; None if no model accepts it."""
    if not isinstance(size, str):
        return None
    match = re.fullmatch(r"([1-9]\d{2,3})\*([1-9]\d{2,3})", size, re.ASCII)
    if match is None:
        return TIERS.get(size)
    width, height = int(match[1]), int(match[2])
    return (width, height) if MIN_PIXELS <= width * height <= MAX_PIXELS else None
