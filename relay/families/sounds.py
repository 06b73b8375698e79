"""Measures the sound in an answer in base64 characters, to estimate tokens that are not reported."""

from collections.abc import Iterable, Mapping
from typing import Any

from relay.families.fields import mapping, mappings


def measure_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    """Measures a chat's messages or deltas."""
    return sum(_length(mapping(message.get("audio")).get("data")) for message in messages)


def measure_contents(contents: Iterable[Any]) -> int:
    """Measures Google's contents, in either spelling."""
    parts = (part for content in contents for part in mappings(mapping(content).get("parts")))
    held = (mapping(part.get("inlineData") or part.get("inline_data")) for part in parts)
    return sum(_length(data.get("data")) for data in held if _is_sound(data))


def _is_sound(data: Mapping[str, Any]) -> bool:
    return str(data.get("mimeType") or data.get("mime_type")).lower().startswith("audio/")


def _length(data: Any) -> int:
    return len(data) if isinstance(data, str) else 0
