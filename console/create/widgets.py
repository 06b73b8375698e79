"""What draws one field of a form.

Names of fields are the paths of what they say: `params.n`, `params.inputs`. A choice is told by its index, since the
values of an enum need be no texts.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["tiles", "select", "number", "text", "long", "url", "lines", "json", "media"]
Medium = Literal["image", "video", "audio"]
LONGEST_SIDE = 28
RATIO = re.compile(r"([1-9][0-9]{0,3}):([1-9][0-9]{0,3})")
OTHER = "other"
"""The choice beside those that a field of free text suggests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`value` is what the request says; `shape` is the width and height of a picture of a ratio."""

    value: Any
    label: str
    shape: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place for media. `role` is what the request says of them; reference images of an image model have none.
    `takes_files` tells whether bytes may be given in place of URLs."""

    name: str
    label: str
    medium: Medium
    role: str
    most: int
    takes_files: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """`path` is that of the value in the request. `is_free`: the choices are suggestions. `default` is what the model
    takes where nothing is said; `low`, `high` and `step` bound numbers."""

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
        """In words: 1 to 4; empty where there is none."""
        if self.low is not None and self.high is not None:
            return f"{self.low:,} to {self.high:,}"
        return f"from {self.low:,}" if self.low is not None else f"up to {self.high:,}" if self.high is not None else ""

    @property
    def has_blank(self) -> bool:
        """Whether nothing may be chosen, and nothing is chosen by itself."""
        return not self.is_required and self.default is None


def shape_of(value: Any) -> tuple[int, int] | None:
    """The size in pixels, LONGEST_SIDE at most, of a drawing of a ratio such as 16:9; None for what is no ratio."""
    found = RATIO.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    width, height = int(found[1]), int(found[2])
    longer = max(width, height)
    return max(3, round(LONGEST_SIDE * width / longer)), max(3, round(LONGEST_SIDE * height / longer))
