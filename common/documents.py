"""Reads dataclasses from stored JSON documents, which another version may have written.

A key that is unknown here is left out. What this version needs must be there and fit, else nobody can tell what was
meant.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")
Fits = Callable[[object], bool]


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
    if wrong := [name for name, value in known.items() if not hints[name](value)]:
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
    return _fitting(hint)(value)


def _fitting(hint: Any) -> Fits:
    """Asks the type once for what it takes, and not with each value."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        kinds = get_args(hint)
        of_each = [_fitting(each) for each in kinds]
        return lambda value: any(fit(value) for fit in of_each)
    if origin is Literal:
        words = get_args(hint)
        return lambda value: value in words
    if hint is bool:
        return lambda value: isinstance(value, bool)
    kind = int | float if hint is float else origin or hint
    return lambda value: isinstance(value, kind) and not isinstance(value, bool)


@lru_cache(maxsize=100)
def _hints(kind: type) -> dict[str, Fits]:
    """What the value of each field must fit."""
    return {name: _fitting(hint) for name, hint in get_type_hints(kind).items()}


@lru_cache(maxsize=100)
def _required(kind: Any) -> frozenset[str]:
    found = fields(kind)
    return frozenset(f.name for f in found if f.default is MISSING and f.default_factory is MISSING)
