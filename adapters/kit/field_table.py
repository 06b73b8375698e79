"""An adapter's list of upstream fields, to look things up in: paths, and how callers may spell them. Pure."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from adapters.base import Adapter, Target
from adapters.kit.settings import SettingsObject
from adapters.kit.upstream_fields import FieldKind, UpstreamField

STRICTNESS = (FieldKind.NEUTRAL, FieldKind.OPERATOR, FieldKind.PRICED, FieldKind.FORBIDDEN)
NAME = re.compile(r"[^\s.\[\]]{1,200}(?:\[[^\s.\[\]]{0,200}\])*")

Steps = tuple[str, ...]
"""A path: the names in it. An element of a list has the path of the list."""


class FieldTable:
    """`settings` is the protocol's settings object, if it has one."""

    def __init__(self, fields: Sequence[UpstreamField], settings: SettingsObject | None) -> None:
        self.settings = settings
        self.at = {steps_of(field.path): field for field in fields}
        self.above = frozenset(above(self.at))
        self.depth = max(map(len, self.at), default=0)
        # An object is what the strictest field in it is.
        strictest = sorted(self.at.items(), key=lambda item: STRICTNESS.index(item[1].kind))
        around = {_letters(steps[:length]): field for steps, field in strictest for length in range(1, len(steps))}
        self._by_letters = around | {_letters(steps): field for steps, field in self.at.items()}

    def nearest(self, steps: Steps) -> UpstreamField | None:
        """The field of this path, else the listed one that covers it."""
        found = (self.at.get(steps[:length]) for length in range(min(len(steps), self.depth), 0, -1))
        return next((field for field in found if field), None)

    def canonical(self, steps: Steps) -> Steps:
        """The path in the request: a setting may be given by its own name."""
        is_setting = self.settings is not None and steps[0] in self.settings.names
        return (self.settings.place, *steps) if self.settings and is_setting else steps

    def twin(self, steps: Steps) -> UpstreamField | None:
        """The listed field of which an unlisted path is another spelling, in case or in signs; for an object with such
        fields in it, one of them."""
        is_itself = steps in self.at or steps in self.above
        return None if is_itself or len(steps) > self.depth else self._by_letters.get(_letters(steps))


def steps_of(path: str) -> Steps:
    """A path as it is written: dots between names, and brackets as in the keys of forms. Raises ValueError."""
    names = path.split(".")
    if not all(NAME.fullmatch(name) for name in names):
        raise ValueError("must be a path like quality, svg.model or tools[].type")
    return tuple(step for name in names for step in form_steps(name))


def form_steps(name: str) -> Steps:
    """`svg[model]` is the field `model` of `svg`, and `n[]` is `n`; every other name is one step, dots and all."""
    if "[" not in name or not NAME.fullmatch(name):
        return (name,)
    head, *rest = name.split("[")
    return (head, *filter(None, (step.removesuffix("]") for step in rest)))


def above(paths: Iterable[Steps]) -> Iterator[Steps]:
    """Every path that has one of these below it."""
    return (steps[:length] for steps in paths for length in range(1, len(steps)))


def kind_of(field: UpstreamField | None, value: Any) -> FieldKind:
    if field is None:
        return FieldKind.OPERATOR
    is_listed = not field.values or any(is_same(value, each) for each in field.values)
    return field.kind if is_listed else field.otherwise


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON."""
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _letters(steps: Steps) -> str:
    """Without case and signs."""
    return ".".join(re.sub("[^a-z0-9]", "", step.lower()) for step in steps)


def of(adapter: Adapter, target: Target) -> FieldTable:
    """An installed adapter may list none."""
    listed = getattr(adapter, "fields", lambda target: ())(target)
    return _table(tuple(listed), settings_of(adapter))


def settings_of(adapter: Adapter) -> SettingsObject | None:
    """Where the protocol keeps its settings; installed adapters may mean something else by the name."""
    settings = getattr(adapter, "settings", None)
    return settings if isinstance(settings, SettingsObject) else None


@lru_cache(maxsize=64)
def _table(fields: tuple[UpstreamField, ...], settings: SettingsObject | None) -> FieldTable:
    return FieldTable(fields, settings)
