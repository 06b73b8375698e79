"""Reads dataclasses from stored JSON documents, which another version may have written.

A key that is unknown here is left out. What this version needs must be there and fit, else nobody can tell what was
meant.
"""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")


class Unreadable(ValueError):
    """A stored document that this version cannot read. The message names the field, and shows no value."""


def read(kind: type[Kind], document: object, /, **given: object) -> Kind:
    """The dataclass of the document's known fields; those that are given are not looked for. Raises Unreadable."""
    found = whole(document, kind.__name__)
    of: Any = kind
    hints = _hints(of)
    known = {name: found[name] for name in hints if name in found and name not in given}
    if missing := _required(of) - known.keys() - given.keys():
        raise Unreadable(f"{kind.__name__}: {', '.join(sorted(missing))} is missing")
    if wrong := [name for name, value in known.items() if not fits(value, hints[name])]:
        raise Unreadable(f"{kind.__name__}: {', '.join(wrong)} is of a wrong type")
    return kind(**known, **given)


def whole(document: object, name: str) -> Mapping[str, Any]:
    """The document, which must be an object. Raises Unreadable."""
    if not isinstance(document, Mapping):
        raise Unreadable(f"{name}: is no object")
    return document


def listed(value: object, name: str) -> list[Any]:
    """The value, which must be a list. Raises Unreadable."""
    if not isinstance(value, list):
        raise Unreadable(f"{name}: is no list")
    return value


def shown(document: object) -> Mapping[str, Any]:
    """The document, to look at: empty where it is no object."""
    return document if isinstance(document, Mapping) else {}


def elements(value: object) -> list[Any]:
    """The elements of a list, to look at: none where the value is no list."""
    return value if isinstance(value, list) else []


def unknown(kind: type, document: Mapping[str, Any]) -> list[str]:
    """The keys that this version knows nothing of, in order."""
    return sorted(document.keys() - _hints(kind).keys())


def fits(value: object, hint: Any) -> bool:
    """Whether a JSON value is of this type; what is inside of lists and objects is not looked at."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, int | float) if hint is float else isinstance(value, origin or hint)


@lru_cache(maxsize=100)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@lru_cache(maxsize=100)
def _required(kind: Any) -> frozenset[str]:
    found = fields(kind)
    return frozenset(f.name for f in found if f.default is MISSING and f.default_factory is MISSING)
