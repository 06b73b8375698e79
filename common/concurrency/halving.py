"""Finds the item that makes a step of many items fail."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from common import swallowed

Item = TypeVar("Item")
Result = TypeVar("Result")


def apart(
    step: Callable[[Sequence[Item]], Sequence[Result]],
    items: Sequence[Item],
    *,
    of_all: tuple[type[Exception], ...] = (),
) -> list[Result | Exception]:
    """Run the step with all items, and where that fails, with each half. The result of each item; the exception of one
    that fails alone. Exceptions in `of_all` are no item's fault, and are raised."""
    if not items:
        return []
    try:
        return list(step(items))
    except of_all:
        raise
    except Exception as error:
        if len(items) == 1:
            return [error]
        swallowed.note("common.concurrency.halving")
    half = len(items) // 2
    return apart(step, items[:half], of_all=of_all) + apart(step, items[half:], of_all=of_all)
