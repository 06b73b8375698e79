"""An adapter's list of upstream fields, to look things up in: paths, and how callers may spell them. Pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from adapters.base import Adapter, Target
from adapters.kit.settings import SettingsObject
from adapters.kit.upstream_fields import FieldKind, UpstreamField

ELEMENT = "[]"
NAME = re.compile(r"[^\s.\[\]]{1,200}(?:\[[^\s.\[\]]{0,200}\])*")

Steps = tuple[str, ...]
"""A path: names, and ELEMENT for whatever element of a list."""


class FieldTable:
    """`settings` is the protocol's settings object, if it has one."""

    def __init__(self, fields: Sequence[UpstreamField], settings: SettingsObject | None) -> None:
        self.settings = settings
        self.at = {steps_of(field.path): field for field in fields}
        self.above = frozenset(above(self.at))

    def nearest(self, steps: Steps) -> UpstreamField | None:
        """The field of this path, else the listed one that covers it."""
        found = (self.at.get(steps[:length]) for length in range(len(steps), 0, -1))
        return next((field for field in found if field), None)

    def canonical(self, steps: Steps) -> Steps:
        """The path in the request: a setting may be given by its own name."""
        is_setting = self.settings is not None and steps[0] in self.settings.names
        return (self.settings.place, *steps) if self.settings and is_setting else steps

    def twin(self, steps: Steps) -> UpstreamField | None:
        """The listed field of which an unlisted path is another spelling: in case, in signs, or as a list."""
        letters = _letters(steps)
        close = (field for path, field in self.at.items() if _letters(path) == letters)
        return None if steps in self.at else next(close, None)


def steps_of(path: str) -> Steps:
    """A path as it is written: dots between names, and brackets as in the keys of forms. Raises ValueError."""
    names = path.split(".")
    if not all(NAME.fullmatch(name) for name in names):
        raise ValueError("must be a path like quality, svg.model or tools[].type")
    return tuple(step for name in names for step in form_steps(name))


def form_steps(name: str) -> Steps:
    """`svg[model]` is the field `model` of `svg`; every other name is one step, dots and all."""
    if not NAME.fullmatch(name):
        return (name,)
    head, *rest = name.split("[")
    return (head, *(step.removesuffix("]") or ELEMENT for step in rest))


def above(paths: Mapping[Steps, Any]) -> Iterator[Steps]:
    """Every path that has one of these below it."""
    return (steps[:length] for steps in paths for length in range(1, len(steps)))


def kind_of(field: UpstreamField | None, value: Any) -> FieldKind:
    if field is None:
        return FieldKind.OPERATOR
    is_listed = not field.values or any(is_same(value, each) for each in field.values)
    return field.kind if is_listed else field.otherwise


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def written(steps: Steps) -> str:
    """The path as text."""
    return ".".join(steps).replace(f".{ELEMENT}", ELEMENT)


def _letters(steps: Steps) -> str:
    """Without case, signs and lists."""
    return ".".join(re.sub("[^a-z0-9]", "", step.lower()) for step in steps if step != ELEMENT)


def of(adapter: Adapter, target: Target) -> FieldTable | None:
    """None of an adapter of ours whose fields are not listed yet."""
    listed = getattr(adapter, "fields", lambda target: ())(target)
    return None if listed is None else _table(tuple(listed), getattr(adapter, "settings", None))


@lru_cache(maxsize=64)
def _table(fields: tuple[UpstreamField, ...], settings: SettingsObject | None) -> FieldTable:
    return FieldTable(fields, settings)
