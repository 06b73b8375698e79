"""Places in the body of a described request: the steps that lead to a value, names and numbers of items."""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.kit.settings import EXTRA_BODY

Place = tuple[str | int, ...]

ABSENT = object()


def field_of(place: Place) -> str:
    """Where a caller gives it."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return EXTRA_BODY + "".join(steps)


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Everything in a template's body that is neither an object nor a list, or is an empty one, with its place."""
    if isinstance(value, Mapping | list) and value:
        for step, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from leaves(item, (*place, step))
    else:
        yield place, value


def at(body: Any, place: Place) -> Any:
    """What stands at a place; ABSENT for nothing, and for what is in a list: it may have more items than ours."""
    for step in place:
        if not isinstance(body, Mapping) or step not in body:
            return ABSENT
        body = body[step]
    return body


def names(value: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every name at any depth."""
    if isinstance(value, Mapping | list):
        for step, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            if isinstance(step, str):
                yield (*place, step)
            yield from names(item, (*place, step))


def put(body: dict[str, Any], path: str, value: Any) -> None:
    """Set what is at a path of names; objects on the way are made."""
    *way, last = path.split(".")
    for name in way:
        body = body.setdefault(name, {})
    body[last] = value
