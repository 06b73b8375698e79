"""Paths into a provider's JSON answers: `data.images[].url`, `output[0]`, `result.*`.

Names are joined by dots; `[]` is every item of a list, `[N]` one of them, `*` every value of an object.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

NAME = r"[A-Za-z0-9_:@$-]+|\*"
ITEM = r"\[(?:[0-9]{1,4})?\]"
PATH = re.compile(rf"(?:{NAME}|{ITEM})(?:\.(?:{NAME})|{ITEM})*")
STEP = re.compile(rf"({NAME})|\[([0-9]{{1,4}})?\]")
LONGEST = 200


def is_path(text: object) -> bool:
    """Whether the text is a path."""
    return isinstance(text, str) and len(text) <= LONGEST and PATH.fullmatch(text) is not None


def found(document: Any, path: str) -> list[Any]:
    """The values that a path leads to, in order; what it does not find is left out."""
    values = [document]
    for match in STEP.finditer(path):
        values = [inner for value in values for inner in _step(value, match[1], match[2])]
    return values


def alternatives(paths: str | Sequence[str]) -> Sequence[str]:
    """One path, or a list of them to be tried in order."""
    return (paths,) if isinstance(paths, str) else paths


def first(document: Any, paths: str | Sequence[str]) -> Any:
    """The first value that any of the paths leads to and that is not null; None without one."""
    return next(values(document, paths), None)


def values(document: Any, paths: str | Sequence[str]) -> Iterator[Any]:
    """All that the paths lead to, path by path, without nulls."""
    for path in alternatives(paths):
        yield from (value for value in found(document, path) if value is not None)


def _step(value: Any, name: str | None, index: str | None) -> Iterable[Any]:
    if name == "*":
        return value.values() if isinstance(value, dict) else ()
    if name is not None:
        return (value[name],) if isinstance(value, dict) and name in value else ()
    if not isinstance(value, list):
        return ()
    if index is None:
        return value
    return value[int(index) : int(index) + 1]
