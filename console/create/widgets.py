"""Widgets of form fields.

A field is named by the path of its value: `params.n`, `params.inputs`. A choice is posted by its index, as enum values
need not be texts.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["tiles", "select", "number", "text", "long", "url", "lines", "json", "media"]
Medium = Literal["image", "video", "audio"]
LONGEST_SIDE = 28
RATIO = re.compile(r"([1-9][0-9]{0,3}):([1-9][0-9]{0,3})")
OTHER = "other"
"""Choice of a free text besides the suggestions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Choice of a field; `value` goes into the request, `shape` is width and height of the drawing of a ratio."""

    value: Any
    label: str
    shape: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Slot for media with a `role`, which is empty for reference images of an image model. `takes_files`: files may be
    uploaded in place of URLs."""

    name: str
    label: str
    medium: Medium
    role: str
    most: int
    takes_files: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """Widget of the value at `path` of the request. `is_free`: the choices are suggestions. `default` applies without a
    value; `low`, `high` and `step` bound numbers."""

    kind: Kind
    path: str
    label: str
    is_required: bool = False
    choices: tuple[Choice, ...] = ()
    is_free: bool = False
    is_whole: bool = False
    default: Any = None
    low: float | None = None
    high: float | None = None
    step: float | None = None
    longest: int | None = None
    slots: tuple[Slot, ...] = ()
    help: str = ""

    @property
    def bounds(self) -> str:
        """Describe the bounds: 1 to 4; empty without any."""
        if self.low is not None and self.high is not None:
            return f"{self.low:,} to {self.high:,}"
        return f"from {self.low:,}" if self.low is not None else f"up to {self.high:,}" if self.high is not None else ""

    @property
    def has_blank(self) -> bool:
        """Check whether the field may stay without a choice."""
        return not self.is_required and self.default is None


def shape_of(value: Any) -> tuple[int, int] | None:
    """Compute the size in pixels of the drawing of a ratio such as 16:9; None for other values."""
    found = RATIO.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    width, height = int(found[1]), int(found[2])
    longer = max(width, height)
    return max(3, round(LONGEST_SIDE * width / longer)), max(3, round(LONGEST_SIDE * height / longer))
