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
from typing import Any, TypeVar

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


class Waiter(asyncio.Future[Result]):
    """What a loop waits for. One that is canceled cancels its promise, and needs no callback to see that."""

    def __init__(self, promise: "Future[Result]") -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self._promise: Future[Result] | None = promise

    def cancel(self, msg: Any = None) -> bool:
        is_canceled = super().cancel(msg)
        if promise := self._let_go():
            promise.cancel()
        return is_canceled

    def settle(self) -> None:
        """As the promise, which is kept; nothing where the waiter has left."""
        promise = self._let_go()
        if promise is None:
            return
        if promise.cancelled():
            super().cancel()
        elif error := promise.exception():  # raised here, it would hold this frame, and so itself
            self.set_exception(error)
        else:
            self.set_result(promise.result())

    def _let_go(self) -> "Future[Result] | None":
        """Promises keep their callbacks, and so this: without an end it would be garbage that only a search finds."""
        promise, self._promise = self._promise, None
        return promise


def awaited(promise: "Future[Result]") -> Waiter[Result]:
    """As `asyncio.wrap_future`, for the running loop: a waiter that is canceled cancels the promise. One that is kept
    already wakes up nobody."""
    waiter = Waiter(promise)
    if promise.done():
        waiter.settle()
    else:
        promise.add_done_callback(partial(_kept, waiter))
    return waiter


def _kept(waiter: Waiter[Any], _: "Future[Any]") -> None:
    """On the thread that keeps it, or on the loop's own."""
    loop = waiter.get_loop()
    if _told.steps is None:
        _wake(loop, waiter.settle)
    else:
        _told.steps.setdefault(loop, []).append(waiter.settle)


def _wake(loop: asyncio.AbstractEventLoop, step: Step) -> None:
    with suppress(RuntimeError):  # it is closed, and nobody waits
        loop.call_soon_threadsafe(step)


def _run(steps: list[Step]) -> None:
    for step in steps:
        step()
