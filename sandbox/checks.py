"""Checks the values of a body for protocols that refuse every unknown field."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]
PICTURE_URL = re.compile(r"https?://[^\s]+")
DATA_URL = re.compile(r"data:image/(?:png|jpeg|webp);base64,(.+)", re.DOTALL)


class Invalid(Exception):
    """One field of a body with its fault, in words."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}")
        self.field = field
        self.reason = reason


def fields_of(body: bytes) -> Mapping[str, Any]:
    """Returns the body's JSON object. Raises Invalid."""
    try:
        fields = json.loads(body)
    except ValueError as problem:
        raise Invalid("body", "is no valid JSON") from problem
    if not isinstance(fields, dict):
        raise Invalid("body", "must be a JSON object")
    return fields


def checked(fields: Mapping[str, Any], known: Mapping[str, Check], required: tuple[str, ...], place: str = "") -> None:
    """Checks that every field is known and valid, and that none is missing. Raises Invalid."""
    for name in required:
        if name not in fields:
            raise Invalid(f"{place}{name}", "is required")
    for name, value in fields.items():
        if name not in known:
            raise Invalid(f"{place}{name}", "is not a known field")
        if not known[name](value):
            raise Invalid(f"{place}{name}", "has a value that is not supported")


def text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def switch(value: Any) -> bool:
    return isinstance(value, bool)


def anything(value: Any) -> bool:
    return True


def one_of(*values: str) -> Check:
    return lambda value: isinstance(value, str) and value in values


def whole(low: int, high: int) -> Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def picture_link(value: Any) -> bool:
    """Checks for a public URL, or a data URL of a picture in strict base64."""
    if not isinstance(value, str):
        return False
    match = DATA_URL.fullmatch(value)
    try:
        return bool(base64.b64decode(match[1], validate=True)) if match else PICTURE_URL.fullmatch(value) is not None
    except binascii.Error:
        return False
