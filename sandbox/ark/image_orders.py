"""Reads an image call of the Ark protocol as strictly as the provider: returns an order, or refuses the body."""

import base64
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from sandbox.ark.errors import error, invalid, missing
from sandbox.ark.orders import fields_of
from sandbox.pictures import Picture
from sandbox.wire import Refusal

MAX_REFERENCES = 14
EDGES = {"1K": 1_024, "2K": 2_048, "3K": 3_072, "4K": 4_096}
DEFAULT_EDGE = 2_048
MIN_PIXELS, MAX_PIXELS, MAX_RATIO = 1_280 * 720, 4_096 * 4_096, 16
CHOICES = {
    "response_format": ("url", "b64_json"),
    "sequential_image_generation": ("auto", "disabled"),
    "output_format": ("png", "jpeg"),
}
SWITCHES = ("watermark", "optimize_prompt", "layer_decomposition", "stream")
NUMBERS = ("seed", "guidance_scale")
OBJECTS = ("optimize_prompt_options", "sequential_image_generation_options")
UNCHECKED = ("model", "prompt", "image", "size", "tools")
DATA_URL = re.compile(r"data:image/(png|jpeg|webp);base64,")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the pictures to make. `is_url`: as addresses, else as base64."""

    model: str
    prompt: str
    width: int
    height: int
    output_format: str
    references: int
    watermark: bool
    is_url: bool

    def picture(self, index: int) -> Picture:
        """Returns one of the pictures."""
        notes = [f"after {self.references} reference image(s)"] if self.references else []
        return Picture(
            prompt=self.prompt,
            width=self.width,
            height=self.height,
            output_format=self.output_format,
            index=index,
            footer="\n".join(notes + ["AI generated"] * self.watermark),
        )


def order_of(body: bytes) -> Order:
    """Returns the body's order. Raises Refusal."""
    fields = fields_of(body)
    check_options(fields)
    for name in ("model", "prompt"):
        if not isinstance(fields.get(name), str) or not fields[name]:
            raise missing(name)
    if fields["model"] == "no-such-model":
        message = "The model or endpoint no-such-model does not exist or you do not have access to it."
        raise Refusal(error(404, "InvalidEndpointOrModel.NotFound", message, kind="NotFound"))
    references = references_of(fields.get("image", []))
    width, height = dimensions(fields.get("size"))
    return Order(
        model=fields["model"],
        prompt=fields["prompt"],
        width=width,
        height=height,
        output_format=fields.get("output_format", "jpeg"),
        references=references,
        watermark=fields.get("watermark", True),
        is_url=fields.get("response_format", "url") == "url",
    )


def check_options(fields: Mapping[str, Any]) -> None:
    """Checks types and values of all fields but model, prompt, references and size. Raises Refusal."""
    for name, value in fields.items():
        if name in CHOICES:
            is_valid = isinstance(value, str) and value in CHOICES[name]
        elif name in SWITCHES:
            is_valid = isinstance(value, bool)
        elif name in NUMBERS:
            is_valid = isinstance(value, int | float) and not isinstance(value, bool)
        elif name in OBJECTS:
            is_valid = isinstance(value, dict)
        else:
            is_valid = name in UNCHECKED
        if not is_valid:
            raise invalid(name, "the value or the parameter is not supported")
    for name in ("stream", "layer_decomposition"):
        if fields.get(name):
            raise invalid(name, "not available here")
    if fields.get("sequential_image_generation") == "auto":
        raise invalid("sequential_image_generation", "not available here")


def references_of(image: Any) -> int:
    """Counts the reference images: one or a list. Raises Refusal."""
    values = image if isinstance(image, list) else [image]
    if len(values) > MAX_REFERENCES:
        raise invalid("image", f"at most {MAX_REFERENCES} images are accepted")
    for value in values:
        check_reference(value)
    return len(values)


def check_reference(value: Any) -> None:
    """Checks for a web address or a data URL with a picture. Raises Refusal."""
    if isinstance(value, str) and value.startswith(("https://", "http://")):
        return
    head = DATA_URL.match(value) if isinstance(value, str) else None
    if head is None:
        raise invalid("image", "a URL or a Data URL of an image is expected")
    try:
        content = base64.b64decode(value[head.end() :], validate=True)
        with Image.open(io.BytesIO(content), formats=[head[1].upper()]) as picture:
            picture.verify()
    except Exception as problem:  # Pillow raises many kinds for broken files.
        raise invalid("image", "the image cannot be decoded") from problem


def dimensions(size: Any) -> tuple[int, int]:
    """Returns width and height for a tier, or for pixels within their bounds. Raises Refusal."""
    if size is None or (isinstance(size, str) and size in EDGES):
        edge = EDGES.get(size or "", DEFAULT_EDGE)
        return edge, edge
    match = re.fullmatch(r"([1-9]\d{1,4})x([1-9]\d{1,4})", size, re.ASCII) if isinstance(size, str) else None
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    is_allowed = max(width, height) <= MAX_RATIO * min(width, height) and MIN_PIXELS <= width * height <= MAX_PIXELS
    if not is_allowed:
        raise invalid("size", f"{', '.join(EDGES)}, or {MIN_PIXELS} to {MAX_PIXELS} pixels, ratio up to {MAX_RATIO}")
    return width, height
