"""Tells whether a text in an answer is a picture: base64 data or an address."""

import re
from collections.abc import Mapping
from typing import Any

from relay.families.fields import mapping, mappings

ADDRESS = re.compile(r"\s*(?:https?://[^\s/]|data:[^,\s]+,\s*\S)", re.IGNORECASE)
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{2}[A-Za-z0-9+/_\s-]*={0,2}")
LOOKED_AT = 60
# Events with one picture each, or the end; the second pair are Ark's and MiniMax', one for each picture.
COMPLETED = ("image_generation.completed", "image_edit.completed")
SUCCEEDED = ("image_generation.partial_succeeded", "image_edit.partial_succeeded")
# Characters of base64.
EMPTY = ("null", "none", "undefined", "nil", "false", "true")


def is_address(value: Any) -> bool:
    """Tells whether the value is an http(s) or data URL."""
    return isinstance(value, str) and ADDRESS.match(value) is not None


def is_file_address(value: Any) -> bool:
    """Tells whether the value is an address, including Google's storage."""
    return is_address(value) or (isinstance(value, str) and value.startswith("gs://"))


def is_base64(value: Any) -> bool:
    """Tells whether the value begins as base64, bare or in a data URL, of any length."""
    if not isinstance(value, str):
        return False
    begin = value[:LOOKED_AT].strip()
    return (BASE64.fullmatch(begin) is not None and begin.lower() not in EMPTY) or is_address(begin)


def is_item(item: Mapping[str, Any]) -> bool:
    """Tells whether an item of the Images API, or an event, holds a picture."""
    return is_base64(item.get("b64_json")) or is_address(item.get("url"))


def count_in_messages(messages: Any) -> int:
    """Counts pictures in a chat's messages: in OpenRouter's field, or as parts of the content."""
    found = 0
    for message in messages:
        parts = (part for part in mappings(message.get("content")) if part.get("type") in ("image_url", "output_image"))
        found += sum(1 for item in [*mappings(message.get("images")), *parts] if _is_shown(item))
    return found


def count_in_contents(contents: list[Any]) -> int:
    """Counts pictures in Google's contents, in either spelling: inline or as a file's address."""
    return sum(1 for content in contents for part in mappings(mapping(content).get("parts")) if _is_part(part))


def _is_shown(item: dict[str, Any]) -> bool:
    address = item.get("image_url")
    address = address.get("url") if isinstance(address, dict) else address
    return is_base64(address)


def _is_part(part: dict[str, Any]) -> bool:
    data = mapping(part.get("inlineData") or part.get("inline_data"))
    file = mapping(part.get("fileData") or part.get("file_data"))
    return (_is_image(data) and is_base64(data.get("data"))) or (
        _is_image(file) and is_file_address(file.get("fileUri") or file.get("file_uri"))
    )


def _is_image(data: dict[str, Any]) -> bool:
    return str(data.get("mimeType") or data.get("mime_type")).lower().startswith("image/")
