"""Reads a call of the OpenAI Images protocol as strictly as the provider, from JSON or a form."""

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from sandbox import multipart
from sandbox.openai.errors import error, invalid
from sandbox.pictures import SAVE_OPTIONS, Picture
from sandbox.wire import Refusal, Request

MAX_PROMPT = 32_000
MAX_COUNT = 10
MAX_REFERENCES = 16
MAX_EDGE = 3_840
MIN_PIXELS, MAX_PIXELS = 655_360, 3_840 * 2_160
INTEGERS = {"n": (1, MAX_COUNT), "output_compression": (0, 100), "partial_images": (0, 3)}
CHOICES = {
    "quality": ("low", "medium", "high", "xhigh", "max", "auto"),
    "background": ("transparent", "opaque", "auto"),
    "output_format": tuple(SAVE_OPTIONS),
    "moderation": ("low", "auto"),
    "complexity": ("low", "medium", "high", "auto"),
    "input_fidelity": ("low", "high"),
}
TEXTS = ("model", "prompt", "size", "safety_identifier", "user")
FILES = ("image", "image[]", "mask", "markup")
Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the pictures to make."""

    prompt: str
    count: int
    width: int
    height: int
    quality: str
    background: str
    output_format: str
    references: int

    def picture(self, index: int) -> Picture:
        """Returns one of the pictures."""
        footer = f"after {self.references} reference image(s)" if self.references else ""
        return Picture(
            prompt=self.prompt,
            width=self.width,
            height=self.height,
            output_format=self.output_format,
            index=index,
            footer=footer,
        )


def json_fields(request: Request) -> Fields:
    """Returns the fields of a JSON body. Raises Refusal."""
    try:
        fields = json.loads(request.body)
    except ValueError as problem:
        raise Refusal(error(400, "We could not parse the JSON body of your request.")) from problem
    if not isinstance(fields, dict):
        raise Refusal(error(400, "The body must be a JSON object.", code="invalid_type"))
    return fields


def form_fields(request: Request) -> tuple[Fields, int]:
    """Returns the fields of a form, numbers as numbers, and the number of reference images. Raises Refusal."""
    try:
        parts = multipart.parse(request.headers.get("content-type", ""), request.body)
    except ValueError as problem:
        raise Refusal(error(400, f"The body is no usable form: {problem}.")) from problem
    fields: dict[str, Any] = {}
    references = 0
    for part in parts:
        if part.name in FILES:
            check_file(part)
            references += part.name.startswith("image")
        else:
            text = part.content.decode(errors="replace")
            is_number = part.name in INTEGERS and re.fullmatch("[0-9]{1,9}", text)
            fields[part.name] = int(text) if is_number else text
    if fields.get("stream") == "false":
        del fields["stream"]
    if not references:
        raise invalid("image", "Missing required parameter: 'image'.", "missing_required_parameter")
    if references > MAX_REFERENCES:
        raise invalid("image", f"At most {MAX_REFERENCES} images are accepted.", "array_above_max_length")
    return fields, references


def check_file(part: multipart.Part) -> None:
    """Checks that a file part is a picture. Raises Refusal."""
    formats = ("PNG", "WEBP") if part.name == "mask" else ("PNG", "JPEG", "WEBP")
    try:
        with Image.open(io.BytesIO(part.content), formats=formats) as picture:
            picture.verify()
    except Exception as problem:  # Pillow raises many kinds for broken files.
        raise invalid(part.name, f"Invalid image file in '{part.name}'.", "invalid_image_file") from problem


def order_of(fields: Fields, *, references: int) -> Order:
    """Returns the order in the fields. Raises Refusal."""
    for name, value in fields.items():
        checker_of(name)(name, value)
    for name in ("model", "prompt"):
        if not fields.get(name):
            raise invalid(name, f"Missing required parameter: '{name}'.", "missing_required_parameter")
    if fields["model"] == "no-such-model":
        raise Refusal(error(404, "The model does not exist or you do not have access to it.", code="model_not_found"))
    if len(fields["prompt"]) > MAX_PROMPT:
        raise invalid("prompt", f"The prompt is longer than {MAX_PROMPT} characters.", "string_above_max_length")
    width, height = dimensions(fields.get("size") or "auto")
    return Order(
        prompt=fields["prompt"],
        count=fields.get("n") or 1,
        width=width,
        height=height,
        quality=concrete(fields.get("quality"), "high"),
        background=concrete(fields.get("background"), "opaque"),
        output_format=fields.get("output_format") or "png",
        references=references,
    )


def concrete(choice: str | None, default: str) -> str:
    """Resolves `auto` and absence to the default."""
    return default if choice in (None, "auto") else str(choice)


def checker_of(name: str) -> Callable[[str, Any], None]:
    """Returns the check for a parameter's value. Raises Refusal for an unknown parameter."""
    if name in INTEGERS:
        return check_integer
    if name in CHOICES:
        return check_choice
    if name in TEXTS:
        return check_text
    if name == "stream":
        return check_stream
    raise invalid(name, f"Unknown parameter: '{name}'.", "unknown_parameter")


def check_integer(name: str, value: Any) -> None:
    """Checks for an integer within its bounds, or null. Raises Refusal."""
    low, high = INTEGERS[name]
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise invalid(name, f"Invalid type for '{name}': expected an integer.", "invalid_type")
    if value is not None and not low <= value <= high:
        raise invalid(name, f"Invalid '{name}': expected a value from {low} to {high}.", "integer_out_of_range")


def check_choice(name: str, value: Any) -> None:
    """Checks for one of the listed words, or null. Raises Refusal."""
    if value is not None and value not in CHOICES[name]:
        raise invalid(name, f"Invalid value for '{name}'. Supported values are: {', '.join(CHOICES[name])}.")


def check_text(name: str, value: Any) -> None:
    """Checks for a string, or null. Raises Refusal."""
    if value is not None and not isinstance(value, str):
        raise invalid(name, f"Invalid type for '{name}': expected a string.", "invalid_type")


def check_stream(name: str, value: Any) -> None:
    """Refuses streams, which the sandbox does not support. Raises Refusal."""
    if value:
        raise invalid(name, "Streaming is not available here.", "unsupported_value")


def dimensions(size: str) -> tuple[int, int]:
    """Returns width and height of a size that the current models accept. Raises Refusal."""
    if size == "auto":
        return 1024, 1024
    match = re.fullmatch(r"([1-9]\d{1,4})x([1-9]\d{1,4})", size, re.ASCII)
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    is_allowed = (
        width % 16 == height % 16 == 0
        and max(width, height) <= MAX_EDGE
        and max(width, height) <= 3 * min(width, height)
        and MIN_PIXELS <= width * height <= MAX_PIXELS
    )
    if not is_allowed:
        raise invalid(
            "size",
            f"Invalid size {size[:40]!r}: WIDTHxHEIGHT in multiples of 16, edges up to {MAX_EDGE}, ratio up to 3:1, "
            f"{MIN_PIXELS} to {MAX_PIXELS} pixels.",
        )
    return width, height
