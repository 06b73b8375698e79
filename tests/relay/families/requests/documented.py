"""What the types of the vendors' SDKs document, as examples in which every field stands, however deep."""

import datetime
import enum
import os
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pydantic

FREE = {"An author's": {"own": {"Names": 1}}}
"""What may stand where a vendor documents no fields."""
PLAIN = (str, int, float, bool, bytes, complex, datetime.datetime, os.PathLike, type(None))
# Some SDKs take a Python type for its JSON schema.
SCHEMAS = (type, types.GenericAlias, types.UnionType, type(typing.Optional[int]))  # noqa: UP045
LISTS = (list, Iterable, Sequence)


def example(kind: Any, above: tuple[Any, ...] = ()) -> Any:
    """A value of a type: an object has all of its fields, and in place of a union stands a list of its objects. What
    holds itself is empty the second time. Raises TypeError for a type that is read by no rule of these, so that a new
    SDK cannot hide a field."""
    if (fields := fields_of(kind)) is not None:
        return {} if kind in above else {name: example(hint, (*above, kind)) for name, hint in fields.items()}
    if kind in (object, Any, dict, *SCHEMAS):
        return FREE
    origin, members = typing.get_origin(kind), typing.get_args(kind)
    if origin in (dict, Mapping):
        value = example(members[1], above)
        return {"any": value} if _is_described(value) else FREE
    if origin is typing.Annotated or "Required" in str(origin):
        return example(members[0], above)
    if origin in LISTS or origin in (typing.Union, types.UnionType):
        return _of_each(members, above)
    if origin in (typing.Literal, typing.IO, tuple) or _is_plain(kind):
        return 1
    raise TypeError(f"{kind} is of a kind that this walk does not know")


def fields_of(kind: Any) -> dict[str, Any] | None:
    """The names in JSON of an object's fields, and their types; None for what is no object."""
    if typing.is_typeddict(kind) or hasattr(kind, "__required_keys__"):
        return typing.get_type_hints(kind)
    if isinstance(kind, type) and not typing.get_origin(kind) and issubclass(kind, pydantic.BaseModel):
        kind.model_rebuild()
        return {field.alias or name: field.annotation for name, field in kind.model_fields.items()}
    return None


def _of_each(members: tuple[Any, ...], above: tuple[Any, ...]) -> Any:
    """Of the members of a union or of a list; what is free counts only where nothing else is documented."""
    found = [example(member, above) for member in members]
    return [value for value in found if _is_described(value)] or (FREE if FREE in found else 1)


def _is_described(value: Any) -> bool:
    return isinstance(value, (dict, list)) and value != FREE


def _is_plain(kind: Any) -> bool:
    return kind is list or kind is ... or (isinstance(kind, type) and issubclass(kind, (*PLAIN, enum.Enum)))


def names_in(value: Any) -> int:
    """How many fields stand in an example."""
    if isinstance(value, dict):
        return len(value) + sum(map(names_in, value.values()))
    return sum(map(names_in, value)) if isinstance(value, list) else 0
