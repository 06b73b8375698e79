"""Promises that threads keep and an event loop waits for: those that are kept together wake it up once.

`asyncio.wrap_future` wakes the loop for each. A thread that keeps sixteen of them loses the interpreter to the loop
sixteen times, and comes back to its work that much later.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

Result = TypeVar("Result")
Step = Callable[[], None]


class _Told(threading.local):
    """What this thread has to tell each loop at the end of its block; None outside of one."""

    steps: "dict[asyncio.AbstractEventLoop, list[Step]] | None" = None


_told = _Told()


@contextmanager
def kept_together() -> Iterator[None]:
    """Promises that this thread keeps in the block reach their loops at its end."""
    own: dict[asyncio.AbstractEventLoop, list[Step]] = {}
    outer, _told.steps = _told.steps, own
    try:
        yield
    finally:
        _told.steps = outer
        for loop, steps in own.items():
            _wake(loop, partial(_run, steps))


def awaited(promise: "Future[Result]") -> "asyncio.Future[Result]":
    """As `asyncio.wrap_future`, for the running loop: a waiter that is canceled cancels the promise. One that is kept
    already wakes up nobody."""
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[Result] = loop.create_future()
    if promise.done():
        _copy(promise, waiter)
        return waiter
    waiter.add_done_callback(partial(_left, promise))
    promise.add_done_callback(partial(_kept, loop, waiter))
    return waiter


def _left(promise: "Future[Result]", waiter: "asyncio.Future[Result]") -> None:
    if waiter.cancelled():
        promise.cancel()


def _kept(loop: asyncio.AbstractEventLoop, waiter: "asyncio.Future[Result]", promise: "Future[Result]") -> None:
    """On the thread that keeps it, or on the loop's own."""
    step = partial(_copy, promise, waiter)
    if _told.steps is None:
        _wake(loop, step)
    else:
        _told.steps.setdefault(loop, []).append(step)


def _wake(loop: asyncio.AbstractEventLoop, step: Step) -> None:
    with suppress(RuntimeError):  # it is closed, and nobody waits
        loop.call_soon_threadsafe(step)


def _run(steps: list[Step]) -> None:
    for step in steps:
        step()


def _copy(promise: "Future[Result]", waiter: "asyncio.Future[Result]") -> None:
    if waiter.done():
        return
    if promise.cancelled():
        waiter.cancel()
    elif error := promise.exception():
        waiter.set_exception(error)
    else:
        waiter.set_result(promise.result())
