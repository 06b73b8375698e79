"""A step of many items, one of which may be what makes it fail."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def apart(
    step: Callable[[Sequence[Item]], Sequence[Result]],
    items: Sequence[Item],
    *,
    of_all: tuple[type[Exception], ...] = (),
) -> list[Result | Exception]:
    """What the step makes of each item: of all together, and where that fails, of each half. One that fails alone has
    its exception. Those in `of_all` say nothing of any one item, and are raised."""
    if not items:
        return []
    try:
        return list(step(items))
    except of_all:
        raise
    except Exception as error:
        if len(items) == 1:
            return [error]
    half = len(items) // 2
    return apart(step, items[:half], of_all=of_all) + apart(step, items[half:], of_all=of_all)
