"""Reads untyped values field by field and collects all that is wrong with them."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

Value = TypeVar("Value")
Problem = tuple[str, str]  # where, as a path ("" is the value itself), and why


class Invalid(Exception):
    """What a rule refuses, with all the reasons it has."""

    def __init__(self, reason: str = "", *, problems: list[Problem] | None = None) -> None:
        self.problems = problems or [("", reason)]
        super().__init__("; ".join(map(told, self.problems)))

    def under(self, path: str) -> list[Problem]:
        """The problems as seen from above."""
        return [(join(path, inner), reason) for inner, reason in self.problems]


class FromEnvironment(str):
    """Text that an environment variable gave: where a number or a switch is expected, it may spell one."""

    __slots__ = ()


def join(path: str, inner: str) -> str:
    """`models[0]` and `name` are `models[0].name`; indices need no dot."""
    return f"{path}.{inner}" if path and inner and not inner.startswith("[") else path + inner


def told(problem: Problem) -> str:
    path, reason = problem
    return f"{path}: {reason}" if path else reason


class FieldReader:
    """One mapping being read: each field is taken once, and what nobody took is a problem.

    A field that is wrong or missing yields None and a problem, so that reading can go on.
    """

    def __init__(self, value: object, path: str, problems: list[Problem]) -> None:
        if not isinstance(value, Mapping):
            problems.append((path, "must be a mapping"))
        self.path = path
        self.problems = problems
        self.left: dict[Any, Any] = dict(value) if isinstance(value, Mapping) else {}
        self.is_mapping = isinstance(value, Mapping)

    def need(self, name: str, rule: Callable[[Any], Value]) -> Value:
        """A required field."""
        if self.left.get(name) is None and self.is_mapping:
            self.left.pop(name, None)
            self.problems.append((join(self.path, name), "is required"))
        return cast(Value, self.take(name, rule, None))

    def take(self, name: str, rule: Callable[[Any], Value], default: Value) -> Value:
        """An optional field; null counts as absent."""
        value = self.left.pop(name, None)
        if value is None:
            return default
        try:
            return rule(value)
        except Invalid as error:
            self.problems += error.under(join(self.path, name))
            return cast(Value, None)

    def items(self, name: str, read: Callable[["FieldReader"], Value]) -> list[Value]:
        """An optional list of mappings."""
        value = self.left.pop(name, None)
        if value is None:
            return []
        if not isinstance(value, list):
            self.problems.append((join(self.path, name), "must be a list"))
            return []
        found = []
        for index, item in enumerate(value):
            fields = FieldReader(item, f"{join(self.path, name)}[{index}]", self.problems)
            found.append(read(fields))
            fields.close()
        return found

    def close(self) -> None:
        """Complain about every field that nobody took."""
        self.problems += [(join(self.path, str(name)), "is unknown") for name in self.left]
        self.left = {}


def whole(value: object, read: Callable[[FieldReader], Value]) -> Value:
    """Read one mapping on its own. Raises Invalid."""
    problems: list[Problem] = []
    fields = FieldReader(value, "", problems)
    result = read(fields)
    fields.close()
    if problems:
        raise Invalid(problems=problems)
    return result


def each(rule: Callable[[Any], Value]) -> Callable[[Any], list[Value]]:
    """The rule for a list whose items all follow a rule."""

    def read(value: object) -> list[Value]:
        if not isinstance(value, list | tuple):
            raise Invalid("must be a list")
        return list(_all({f"[{index}]": item for index, item in enumerate(value)}, rule).values())

    return read


def mapped(rule: Callable[[Any], Value]) -> Callable[[Any], dict[str, Value]]:
    """The rule for a mapping from text to values that all follow a rule."""

    def read(value: object) -> dict[str, Value]:
        if not isinstance(value, Mapping):
            raise Invalid("must be a mapping")
        if odd := [key for key in value if not isinstance(key, str) or not key]:
            raise Invalid(f"key {odd[0]!r} must be text: put it in quotes")
        return _all(value, rule)

    return read


def _all(values: Mapping[str, Any], rule: Callable[[Any], Value]) -> dict[str, Value]:
    accepted, problems = {}, []
    for key, item in values.items():
        try:
            accepted[key] = rule(item)
        except Invalid as error:
            problems += error.under(key)
    if problems:
        raise Invalid(problems=problems)
    return accepted


def boolean(value: object) -> bool:
    if isinstance(value, FromEnvironment) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise Invalid("must be true or false")
    return value


def integer(minimum: int, maximum: int = 2_147_483_647) -> Callable[[Any], int]:
    """The rule for a whole number within bounds; `true` is none."""

    def read(value: object) -> int:
        if isinstance(value, FromEnvironment) and re.fullmatch(r"-?[0-9]{1,18}", value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Invalid("must be an integer")
        if not minimum <= value <= maximum:
            raise Invalid(f"must be between {minimum} and {maximum}")
        return value

    return read


def one_of(*known: str) -> Callable[[Any], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise Invalid(f"must be one of {', '.join(known)}")
        return str(value)

    return read
