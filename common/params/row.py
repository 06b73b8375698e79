"""What is said of one field of `params`: everything that the parser, the published schema, the OpenAPI document, the
interface's tables, the console's form, the catalog and the matrix of adapters need to know of it.

A modality is a table of such rows: `common/params/image.py`, `common/params/video.py`, `common/params/three_d.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

FIRST_VERSION = "1.0"
InputType = Literal["image", "video", "audio"]
Role = Literal["reference", "first_frame", "last_frame"]
Roles = Mapping[InputType, tuple[Role, ...]]


class ParamKind(StrEnum):
    """The form of a value."""

    TEXT = "text"  # not blank
    WHOLE = "whole"  # a whole number
    FLAG = "flag"
    CHOICE = "choice"  # one of the texts that the model's bounds list
    IMAGES = "images"  # reference images, by address alone
    INPUTS = "inputs"  # media with a type and a role
    OPTIONS = "options"  # fields of the provider's own protocol


BOUNDED = (ParamKind.WHOLE, ParamKind.IMAGES, ParamKind.INPUTS)
EXEMPLARY = (ParamKind.TEXT, ParamKind.WHOLE, ParamKind.FLAG, ParamKind.CHOICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One field. `TaskRequest` has a member of its name, which holds its value or, where it is absent, its own default.

    `most` bounds the characters of a text, the value of a number and the elements of a list, `least` the value of a
    number. A model's bounds may lower `most`; where they say nothing it is `most_unlisted`, if that is given.

    Words: `description` is for the OpenAPI document, `rule` for the interface's table (`{most}` stands for the bound),
    `help` for `params_schema` and the console. With `bound_help`, which tells an operator what for, the catalog lists
    the field's values or maximum. `component` is the OpenAPI schema that describes the value in place of `description`.

    The console draws fields with a `place` openly and in that order, all others under a summary; `suggestions` are
    values of a free text. `in_matrix`: docs/adapters.md has a row that tells which adapters take `example`.
    `is_reserved`: no option of the provider may have the field's name. `numbers`: options whose value may not pass the
    model's maximum of the field of that name.
    """

    name: str
    kind: ParamKind
    since: str
    rule: str
    example: Any = None
    description: str = ""
    help: str = ""
    is_required: bool = False
    default: int | None = None
    least: int = 1
    most: int | None = None
    most_unlisted: int | None = None
    bound_help: str = ""
    roles: Roles = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    is_reserved: bool = False
    component: str = ""
    label: str = ""
    place: int | None = None
    suggestions: tuple[str, ...] = ()
    in_matrix: bool = True

    def most_of(self, bounds: Mapping[str, Any]) -> int | None:
        """The bound of a model's requests; None where there is none."""
        unlisted = self.most if self.most_unlisted is None else self.most_unlisted
        most: int | None = (bounds.get(self.name) or {}).get("max", unlisted)
        return most

    def __post_init__(self) -> None:
        """Raises ValueError for a row that lacks what one of its kind needs."""
        if self.kind in BOUNDED and self.most is None:
            raise ValueError(f"{self.name} needs a bound: most")
        if self.kind in EXEMPLARY and self.example is None:
            raise ValueError(f"{self.name} needs an example")
        if self.kind is ParamKind.CHOICE and not self.bound_help:
            raise ValueError(f"{self.name} needs a catalog that lists its values: bound_help")
        if not (self.description or self.component):
            raise ValueError(f"{self.name} needs a description")

    @property
    def trial_values(self) -> tuple[Any, ...]:
        """The values with which it is found out whether a route can express an optional field that no catalog lists."""
        if self.is_required or self.bound_help or self.kind not in (ParamKind.TEXT, ParamKind.WHOLE, ParamKind.FLAG):
            return ()
        return (True, False) if self.kind is ParamKind.FLAG else (self.example,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamTable:
    """The fields of one modality, in the order in which a request is read.

    `hints` say for fields of other services what to use instead. `either` names fields of which a request needs one.
    """

    rows: tuple[Param, ...]
    hints: Mapping[str, str] = field(default_factory=dict)
    either: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Param:
        return next(row for row in self.rows if row.name == name)

    @property
    def placed(self) -> tuple[str, ...]:
        """The fields that stand open in the console's form, in its order."""
        found = {row.name: row.place for row in self.rows if row.place is not None}
        return tuple(sorted(found, key=lambda name: found[name]))

    @property
    def reserved(self) -> tuple[str, ...]:
        """Names that no option of the provider may have, at the top of its object."""
        names = tuple(row.name for row in self.rows if row.is_reserved)
        return ("model", *names) if names else ()
