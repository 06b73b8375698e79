"""`params.inputs` of video and 3D: public URLs with a type and a role."""

import re
from collections.abc import Mapping
from typing import Literal

from adapters.base import MediaInput
from tasks.request.fields import Fields, refuse
from tasks.request.rules import ParamRules, public_url

MAX_INPUTS = 16
NAMES = ("id", "type", "role", "url")
ID = r"^[A-Za-z0-9_-]+$"
InputType = Literal["image", "video", "audio"]
Role = Literal["reference", "first_frame", "last_frame"]
ONCE: tuple[Role, ...] = ("first_frame", "last_frame")
ROLES: Mapping[str, Mapping[InputType, tuple[Role, ...]]] = {
    "image": {"image": ("reference",)},
    "video": {
        "image": ("first_frame", "last_frame", "reference"),
        "video": ("reference",),
        "audio": ("reference",),
    },
    "3d": {"image": ("reference",)},
}


def parse(fields: Fields, modality: str, rules: ParamRules) -> tuple[MediaInput, ...]:
    """The inputs in order. Raises InvalidRequest."""
    inputs: list[MediaInput] = []
    for element in fields.items("inputs", most=MAX_INPUTS):
        media = _media(element, modality, rules)
        if media.id is not None and media.id in [other.id for other in inputs]:
            refuse(element.at("id"), "must be unique within the task")
        if media.role in ONCE and media.role in [other.role for other in inputs]:
            refuse(element.at("role"), f"must not be {media.role} twice")
        inputs.append(media)
    return tuple(inputs)


def _media(element: Fields, modality: str, rules: ParamRules) -> MediaInput:
    element.refuse_unknown(NAMES)
    roles = ROLES[modality]
    kind = element.required_choice("type", roles)
    role = element.required_choice("role", roles[kind])
    identifier = element.text("id")
    if identifier is not None and not re.fullmatch(ID, identifier):
        refuse(element.at("id"), "must consist of letters, digits, _ and -")
    return MediaInput(type=kind, role=role, url=public_url(element, "url", rules), id=identifier)
