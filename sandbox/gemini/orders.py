"""Reads a call of the Gemini protocol as strictly as the provider: returns an order, or refuses the body with a 400."""

import base64
import io
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from sandbox.gemini.errors import error, invalid, unknown
from sandbox.wire import Refusal

TOP = ("contents", "generationConfig", "safetySettings", "systemInstruction", "tools", "toolConfig", "cachedContent")
CONFIG = {
    "responseModalities",
    "imageConfig",
    "candidateCount",
    "temperature",
    "topP",
    "topK",
    "seed",
    "maxOutputTokens",
    "stopSequences",
    "thinkingConfig",
    "mediaResolution",
}
EDGES = {"512": 512, "1K": 1_024, "2K": 2_048, "4K": 4_096}
RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9", "1:4", "4:1", "1:8", "8:1")
TYPES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP"}
MODALITIES = (["IMAGE"], ["TEXT", "IMAGE"], ["IMAGE", "TEXT"])
STEP = 16
OTHER_ALPHABET = str.maketrans("-_", "+/")
"""Translates base64 for URLs, which Google's own packages send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call: the picture to make."""

    prompt: str
    width: int
    height: int
    references: int


def order_of(model: str, version: str, body: bytes) -> Order:
    """Returns the call's order. Raises Refusal."""
    fields = fields_of(body)
    check_names(fields, TOP, "")
    parts = parts_of(fields.get("contents"))
    prompt = "\n".join(part["text"] for part in parts if "text" in part)
    if not prompt:
        raise invalid("* GenerateContentRequest.contents: contents is not specified")
    width, height = dimensions(image_config(fields.get("generationConfig", {})))
    if model == "no-such-model":
        message = f"models/{model} is not found for API version {version}, or is not supported for generateContent."
        raise Refusal(error(404, message))
    return Order(prompt=prompt, width=width, height=height, references=sum("inlineData" in part for part in parts))


def fields_of(body: bytes) -> Mapping[str, Any]:
    """Returns the body's JSON object. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise invalid("Invalid JSON payload received.") from problem
    return object_of(fields, "the request")


def object_of(value: Any, place: str) -> Mapping[str, Any]:
    """Returns the value if it is an object. Raises Refusal."""
    if not isinstance(value, dict):
        raise invalid(f"Invalid value at '{place}': an object is expected.")
    return value


def is_one(value: Any, names: Collection[str]) -> bool:
    return isinstance(value, str) and value in names


def check_names(fields: Mapping[str, Any], known: Collection[str], place: str) -> None:
    """Raises Refusal for an unknown field."""
    for name in fields.keys() - set(known):
        raise unknown(name, place)


def parts_of(contents: Any) -> list[Mapping[str, Any]]:
    """Returns the parts of all contents. Raises Refusal."""
    if not isinstance(contents, list) or not contents:
        raise invalid("* GenerateContentRequest.contents: contents is not specified")
    parts = []
    for index, content in enumerate(contents):
        place = f"contents[{index}]"
        check_names(object_of(content, place), ("role", "parts"), place)
        if content.get("role", "user") not in ("user", "model"):
            raise invalid("Please use a valid role: user, model.")
        if not isinstance(content.get("parts"), list) or not content["parts"]:
            raise invalid(f"* GenerateContentRequest.{place}.parts: must not be empty")
        parts += [part_of(part, f"{place}.parts[{number}]") for number, part in enumerate(content["parts"])]
    return parts


def part_of(part: Any, place: str) -> Mapping[str, Any]:
    """Returns a part with either a text or a picture. Raises Refusal."""
    fields = object_of(part, place)
    check_names(fields, ("text", "inlineData"), place)
    if len(fields) != 1 or not isinstance(fields.get("text", ""), str):
        raise invalid(f"{place}.data: required oneof field 'data' must have one initialized field")
    if "inlineData" in fields:
        check_picture(object_of(fields["inlineData"], f"{place}.inlineData"), f"{place}.inlineData")
    return fields


def check_picture(blob: Mapping[str, Any], place: str) -> None:
    """Checks that the picture has its declared type. Raises Refusal."""
    check_names(blob, ("mimeType", "mime_type", "data"), place)
    kind = blob.get("mimeType", blob.get("mime_type"))
    if not is_one(kind, TYPES):
        raise invalid(f"Unsupported MIME type: {kind}")
    try:
        content = base64.b64decode(blob["data"].translate(OTHER_ALPHABET), validate=True)
        with Image.open(io.BytesIO(content), formats=[TYPES[kind]]) as picture:
            picture.verify()
    except Exception as problem:  # Pillow raises many kinds for broken files.
        raise invalid("Unable to process input image.") from problem


def image_config(config: Any) -> Mapping[str, Any]:
    """Returns the `imageConfig` with values that the protocol has. Raises Refusal."""
    fields = object_of(config, "generation_config")
    check_names(fields, CONFIG, "generation_config")
    if fields.get("candidateCount", 1) != 1:
        raise invalid("Multiple candidates is not enabled for this model")
    modalities = fields.get("responseModalities", ["TEXT", "IMAGE"])
    if modalities not in MODALITIES:
        raise invalid("The requested combination of response modalities is not supported by the model.")
    image = object_of(fields.get("imageConfig", {}), "generation_config.image_config")
    check_names(image, ("aspectRatio", "imageSize"), "generation_config.image_config")
    if not is_one(image.get("imageSize", "1K"), EDGES):
        raise invalid("Invalid value at 'generation_config.image_config.image_size'.")
    if not is_one(image.get("aspectRatio", "1:1"), RATIOS):
        raise invalid("Invalid value at 'generation_config.image_config.aspect_ratio'.")
    return image


def dimensions(config: Mapping[str, Any]) -> tuple[int, int]:
    """Returns width and height with the area of the size and roughly the ratio."""
    edge = EDGES[config.get("imageSize", "1K")]
    across, down = map(int, config.get("aspectRatio", "1:1").split(":"))
    stretch = (across / down) ** 0.5
    return round(edge * stretch / STEP) * STEP, round(edge / stretch / STEP) * STEP
