"""Reads dataclasses from stored JSON documents, which another version may have written.

A key that is unknown here is left out. What this version needs must be there and fit, else nobody can tell what was
meant.
"""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

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
    if wrong := [name for name, value in known.items() if not hints[name].takes(value)]:
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
    return _wanted(hint).takes(value)


class _Wanted(NamedTuple):
    """What a type takes: values of some classes, of which a truth value is none but where it says so, and words."""

    kinds: tuple[type, ...]
    takes_truth: bool
    words: tuple[object, ...]

    def takes(self, value: object) -> bool:
        if isinstance(value, bool):
            return self.takes_truth or value in self.words
        return isinstance(value, self.kinds) or value in self.words


def _wanted(hint: Any) -> _Wanted:
    """Asks the type once for what it takes, and not with each value."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        each = [_wanted(kind) for kind in get_args(hint)]
        return _Wanted(
            tuple(kind for wanted in each for kind in wanted.kinds),
            any(wanted.takes_truth for wanted in each),
            tuple(word for wanted in each for word in wanted.words),
        )
    if origin is Literal:
        return _Wanted((), False, get_args(hint))
    if hint is bool:
        return _Wanted((), True, ())
    return _Wanted((int, float) if hint is float else (origin or hint,), False, ())


@lru_cache(maxsize=100)
def _hints(kind: Any) -> dict[str, _Wanted]:
    """What the value of each field must fit."""
    hints = get_type_hints(kind)
    return {field.name: _wanted(hints[field.name]) for field in fields(kind) if field.init}


@lru_cache(maxsize=100)
def _required(kind: Any) -> frozenset[str]:
    found = [field for field in fields(kind) if field.init]
    return frozenset(f.name for f in found if f.default is MISSING and f.default_factory is MISSING)
