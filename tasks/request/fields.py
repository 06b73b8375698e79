"""One JSON object of a request, read field by field. A refusal names the path of the field.

An optional field that is null counts as absent; an unknown field is refused even when it is null. (Options have no
unknown fields: see `tasks/request/options.py`.)
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from common import strict_json
from common.errors import InvalidRequest
from tasks.request.values import ParamRules

Text = TypeVar("Text", bound=str)


def refuse(path: str, reason: str) -> NoReturn:
    """Raise InvalidRequest; the reason reads on from the field's path."""
    raise InvalidRequest(f"{path} {reason}.", param=path)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFields:
    """One object of the request. All readers raise InvalidRequest; those of optional fields give None for absent."""

    values: Mapping[str, Any]
    path: str

    @classmethod
    def of(cls, value: Any, path: str) -> "RequestFields":
        """The fields of a value that must be an object."""
        if not isinstance(value, dict):
            refuse(path, "must be an object")
        return cls(values=value, path=path)

    def at(self, name: str) -> str:
        """The path of one field."""
        return strict_json.field(self.path, name)

    def refuse_unknown(self, known: Collection[str], hints: Mapping[str, str] | None = None) -> None:
        """Refuse what is not known; `hints` say for some names what to use instead."""
        for name in self.values:
            if name not in known:
                hint = (hints or {}).get(name)
                refuse(self.at(name), "is not supported" + (f"; {hint}" if hint else ""))

    def required(self, name: str) -> Any:
        value = self.values.get(name)
        if value is None:
            refuse(self.at(name), "is required")
        return value

    def text(self, name: str, *, longest: int | None = None) -> str | None:
        """A string with more than blanks in it, unchanged; `longest` in characters."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            refuse(self.at(name), "must be a string")
        if not value.strip():
            refuse(self.at(name), "must not be blank")
        if longest is not None and len(value) > longest:
            refuse(self.at(name), f"must be at most {longest:,} characters long")
        return value

    def required_text(self, name: str, *, longest: int | None = None) -> str:
        found = self.text(name, longest=longest)
        return self.required(name) if found is None else found

    def choice(self, name: str, values: Collection[Text]) -> Text | None:
        """One of the values."""
        value = self.values.get(name)
        if value is None:
            return None
        for known in values:
            if value == known:
                return known
        refuse(self.at(name), "must be one of " + ", ".join(values))

    def required_choice(self, name: str, values: Collection[Text]) -> Text:
        self.required(name)
        return self.choice(name, values) or self.required(name)

    def integer(self, name: str, *, largest: int, least: int = 1) -> int | None:
        """A whole number from `least` to `largest`; a boolean or a number with a decimal point is none."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= largest:
            refuse(self.at(name), f"must be an integer from {least} to {largest}")
        return value

    def flag(self, name: str, values: Sequence[bool] = (True, False)) -> bool | None:
        """One of the values."""
        value = self.values.get(name)
        if value is not None and (not isinstance(value, bool) or value not in values):
            refuse(self.at(name), "must be " + " or ".join(map(json.dumps, values)))
        return value

    def object(self, name: str) -> "RequestFields | None":
        value = self.values.get(name)
        return None if value is None else RequestFields.of(value, self.at(name))

    def items(self, name: str, *, most: int) -> "list[RequestFields]":
        """The elements of an array of objects; empty if absent."""
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            refuse(self.at(name), "must be an array")
        if len(value) > most:
            refuse(self.at(name), f"must have at most {most} elements" if most else "is not supported by this model")
        return [RequestFields.of(element, f"{self.at(name)}[{index}]") for index, element in enumerate(value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamField:
    """`read` gives the value for `TaskRequest` of a field that is there; an absent one has its `default`, and with None
    that of `TaskRequest`. It raises InvalidRequest.

    `roles` are those of reference media, by type; other fields have none.
    """

    read: Callable[[RequestFields, str, ParamRules], Any]
    schema: Mapping[str, Any]
    is_required: bool = False
    default: Any = None
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
