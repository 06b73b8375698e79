"""What the models endpoint publishes of params: JSON Schema (2020-12) and a summary of inputs.

The schema accepts what `params.parse` accepts as far as JSON Schema can say. It cannot say: which hosts are public,
that a Data URL's bytes agree with its type, that input ids are unique, that `params.model` is the name sent,
that keys are compared without case, and that 1.0 is no integer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from common.urls import MAX_BYTES
from tasks.request import image, inputs, options, video
from tasks.request.image import Choice

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: dict[str, Any] = {"type": "string", "pattern": r"\S"}
OPTIONAL_TEXT: dict[str, Any] = {"type": ["string", "null"], "pattern": r"\S"}
PROMPT = {**TEXT, "description": "Text prompt."}
PUBLIC_URL = {"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://", "maxLength": MAX_BYTES}
IMAGE_URL = {
    "anyOf": [PUBLIC_URL, {"type": "string", "pattern": "^[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z]+;[Bb]"}]
}
OPTIONS_DEFINITIONS = {
    "options": {
        "type": "object",
        "propertyNames": {"not": {"anyOf": [{"pattern": pattern} for pattern in options.REFUSED_ANYWHERE]}},
        "additionalProperties": {"$ref": "#/$defs/option"},
    },
    "option": {
        "anyOf": [
            {"$ref": "#/$defs/options"},
            {"type": "array", "items": {"$ref": "#/$defs/option"}},
            {"type": ["string", "number", "boolean", "null"]},
        ]
    },
}


def params_schema(modality: str, catalog_params: Mapping[str, Any], *, names: Sequence[str] = ()) -> dict[str, Any]:
    """The schema of `params`; `names` are the model's name and aliases, each allowed as `params.model`."""
    schema: dict[str, Any] = {"$schema": DIALECT, "type": "object", "additionalProperties": False}
    if modality == "image":
        schema |= _image(image.offer(catalog_params))
    else:
        schema |= _video() if modality == "video" else _three_d()
    schema["properties"]["model"] = {"enum": [*names, None]} if names else OPTIONAL_TEXT
    return schema | {"$defs": OPTIONS_DEFINITIONS}


def inputs_summary(modality: str, catalog_params: Mapping[str, Any]) -> dict[str, Any]:
    """`{"max", "roles"}`: how many inputs (for images: reference images), and the roles by type of input."""
    is_image = modality == "image"
    most = image.offer(catalog_params).max_images if is_image else inputs.MAX_INPUTS
    return {"max": most, "roles": {kind: list(roles) for kind, roles in inputs.ROLES[modality].items()}}


def _image(offered: image.Offer) -> dict[str, Any]:
    element = {
        "type": "object",
        "additionalProperties": False,
        "required": ["image_url"],
        "properties": {"image_url": IMAGE_URL},
    }
    choices = {"image_size": offered.image_size, "aspect_ratio": offered.aspect_ratio}
    without_default = [name for name, choice in choices.items() if choice.values and choice.default is None]
    return {
        "required": ["prompt", *without_default],
        "properties": {
            "prompt": PROMPT | {"maxLength": image.MAX_PROMPT},
            "n": {"type": ["integer", "null"], "minimum": 1, "maximum": offered.max_n, "default": 1},
            **{name: _choice(choice) for name, choice in choices.items()},
            "images": {"type": ["array", "null"], "maxItems": offered.max_images, "items": element},
            "extra_body": _options(()),
        },
    }


def _choice(choice: Choice) -> dict[str, Any]:
    if not choice.values:
        return {"type": "null"}
    if choice.default is None:
        return {"enum": list(choice.values)}
    return {"enum": [*choice.values, None], "default": choice.default}


def _video() -> dict[str, Any]:
    return {
        "required": ["prompt", "duration", "resolution", "aspect_ratio"],
        "properties": {
            "prompt": PROMPT,
            "duration": {
                "type": "integer",
                "minimum": 1,
                "maximum": video.MAX_DURATION_SECONDS,
                "description": "Seconds.",
            },
            "resolution": TEXT,
            "aspect_ratio": TEXT,
            "generate_audio": {"type": ["boolean", "null"]},
            "inputs": _inputs("video"),
            "provider_options": _options(video.RESERVED),
        },
    }


def _three_d() -> dict[str, Any]:
    return {
        "anyOf": [
            {"required": ["prompt"], "properties": {"prompt": {"type": "string"}}},
            {"required": ["inputs"], "properties": {"inputs": {"type": "array", "minItems": 1}}},
        ],
        "properties": {
            "prompt": PROMPT | {"type": ["string", "null"]},
            "inputs": _inputs("3d"),
            "output_format": OPTIONAL_TEXT,
            "extra_body": _options(()),
        },
    }


def _inputs(modality: str) -> dict[str, Any]:
    roles = inputs.ROLES[modality]
    once = [role for role in inputs.ONCE if role in roles["image"]]
    element = {
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "role", "url"],
        "properties": {
            "id": {"type": ["string", "null"], "pattern": inputs.ID},
            "type": {"enum": list(roles)},
            "role": {"type": "string"},
            "url": PUBLIC_URL,
        },
        "anyOf": [
            {"properties": {"type": {"const": kind}, "role": {"enum": list(allowed)}}}
            for kind, allowed in roles.items()
        ],
    }
    at_most_one = [
        {"contains": {"properties": {"role": {"const": role}}}, "minContains": 0, "maxContains": 1} for role in once
    ]
    schema = {"type": ["array", "null"], "maxItems": inputs.MAX_INPUTS, "items": element}
    return schema | ({"allOf": at_most_one} if at_most_one else {})


def _options(reserved: Iterable[str]) -> dict[str, Any]:
    refused: list[dict[str, Any]] = [{"pattern": options.MODEL}, {"enum": list(reserved)}]
    return {
        "anyOf": [{"type": "null"}, {"$ref": "#/$defs/options"}],
        "propertyNames": {"not": {"anyOf": [rule for rule in refused if rule != {"enum": []}]}},
    }
