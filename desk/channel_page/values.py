"""Notation of catalog values in form fields: seconds, names, pixels and other JSON values. Pure.

Writing and reading are exact inverses; `is_shown` tells whether a value has a notation.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adapters.base import OperatorField, ValueKind
from catalog.file.changes import same
from common import strict_json
from common.errors import InvalidRequest

NAME = re.compile(r"[^\s.\[\]]+")
SPAN = re.compile(r"([0-9]{0,9})\s*-\s*([0-9]{0,9})")
SIZE = re.compile(r"[0-9]{1,6}x[0-9]{1,6}")
SWITCHES = {"yes": True, "no": False}


class Misspelled(ValueError):
    """Raised for text that is no value of its kind; the message explains the notation."""


def as_text(value: Any) -> str:
    """Write a text as it is, and anything else as JSON, including a text that would be read as JSON."""
    if isinstance(value, str) and value == value.strip() and value and not _is_json(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def from_text(text: str) -> Any:
    try:
        return strict_json.loads(text.encode())
    except (InvalidRequest, ValueError):
        if text[:1] in ("{", "["):
            raise Misspelled("This begins like JSON but is not valid.") from None
        return text


def _is_json(text: str) -> bool:
    try:
        strict_json.loads(text.encode())
    except (InvalidRequest, ValueError):
        return text[:1] in ("{", "[")
    return True


Leaves = list[tuple[str, str]]


def flat(document: Mapping[str, Any], above: str = "") -> Leaves:
    """Flatten an object to dotted paths with values."""
    found: Leaves = []
    for name, value in document.items():
        path = f"{above}{name}"
        is_open = isinstance(value, Mapping) and value and all(map(NAME.fullmatch, value))
        found += flat(value, f"{path}.") if is_open else [(path, as_text(value))]
    return found


def nested(rows: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """Build an object from dotted paths with values. Raises Misspelled."""
    document: dict[str, Any] = {}
    for path, text in rows:
        if not path:
            raise Misspelled(f"{text}: enter the field of this value.")
        if not text:
            raise Misspelled(f"{path}: enter its value, or clear the row.")
        _put(document, path, from_text(text))
    return document


def _put(document: dict[str, Any], path: str, value: Any) -> None:
    *above, last = path.split(".")
    place = document
    for name in above:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise Misspelled(f"{path}: {name} already has a value.")
    if last in place:
        raise Misspelled(f"{path}: appears twice.")
    place[last] = value


def _names_shown(value: Any) -> str:
    return ", ".join(value)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _seconds_shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value.get('min', '')}-{value.get('max', '')}"
    return ", ".join(map(str, value))


def _seconds(text: str) -> Any:
    if span := SPAN.fullmatch(text.strip()):
        return {name: int(each) for name, each in zip(("min", "max"), span.groups(), strict=True) if each}
    if not all(name.isascii() and name.isdigit() for name in _names(text)):
        raise Misspelled("Enter whole seconds separated by commas, such as 5, 10, or a range, such as 4-12.")
    return [int(name) for name in _names(text)]


def _number(text: str) -> int | float:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise Misspelled("Enter a number.") from None


def _whole(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise Misspelled("Enter a whole number.")
    return int(text)


def _switch(text: str) -> bool:
    if text not in SWITCHES:
        raise Misspelled("Choose yes or no.")
    return SWITCHES[text]


def _switch_shown(value: Any) -> str:
    return "yes" if value is True else "no"


SizeRows = list[tuple[str, ...]]


def sizes_shown(table: Mapping[str, Mapping[str, str]]) -> SizeRows:
    return [(tier, ratio, size) for tier, row in table.items() for ratio, size in row.items()]


def sizes(rows: Sequence[tuple[str, ...]]) -> dict[str, dict[str, str]]:
    """Build a table of sizes from rows. Raises Misspelled."""
    table: dict[str, dict[str, str]] = {}
    for tier, ratio, size in rows:
        if not (tier and ratio and SIZE.fullmatch(size)):
            raise Misspelled(
                f"{tier or '?'}, {ratio or '?'}: enter tier, ratio and pixels, such as 1K, 16:9, 1360x768."
            )
        if ratio in table.setdefault(tier, {}):
            raise Misspelled(f"{tier}, {ratio}: appears twice.")
        table[tier][ratio] = size
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Writer and reader of one kind of value."""

    shown: Callable[[Any], Any]
    read: Callable[[Any], Any]


SPELLINGS: Mapping[ValueKind, Spelling] = {
    "whole": Spelling(shown=str, read=_whole),
    "number": Spelling(shown=str, read=_number),
    "switch": Spelling(shown=_switch_shown, read=_switch),
    "choice": Spelling(shown=str, read=str),
    "text": Spelling(shown=str, read=str),
    "names": Spelling(shown=_names_shown, read=_names),
    "durations": Spelling(shown=_seconds_shown, read=_seconds),
    "sizes": Spelling(shown=sizes_shown, read=sizes),
    "object": Spelling(shown=flat, read=nested),
    "counts": Spelling(
        shown=lambda counts: {name: str(count) for name, count in counts.items()},
        read=lambda counts: {name: _whole(count) for name, count in counts.items()},
    ),
}


def is_shown(field: OperatorField, value: Any) -> bool:
    """Check that the field can show this value and read it back unchanged."""
    if field.kind == "either":
        return value in field.choices if isinstance(value, str) else is_shown(replace(field, kind="object"), value)
    spelling = SPELLINGS[field.kind]
    try:
        shown = spelling.shown(value)
        is_exact = same(spelling.read(shown), value) and type(spelling.read(shown)) is type(value)
        if field.kind == "choice":
            return is_exact and value in field.choices
        if field.kind == "counts":
            return is_exact and set(value) <= set(field.choices)
    except (Misspelled, TypeError, ValueError, AttributeError):
        return False
    return is_exact and bool(shown) and (not isinstance(shown, str) or shown == shown.strip())
