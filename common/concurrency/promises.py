"""Futures that threads resolve and an event loop awaits: those that are resolved together wake the loop once.

`asyncio.wrap_future` wakes the loop for each future. A thread that resolves sixteen of them loses the interpreter to
the loop sixteen times, and comes back to its work that much later: a fifth fewer relayed calls a second, and 7 % more
CPU for a submission.
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
    """The callbacks that this thread hands to each loop at the end of its block; None outside of a block."""

    steps: "dict[asyncio.AbstractEventLoop, list[Step]] | None" = None


_told = _Told()


@contextmanager
def kept_together() -> Iterator[None]:
    """Hand the futures that this thread resolves in the block to their loops at the end of the block."""
    own: dict[asyncio.AbstractEventLoop, list[Step]] = {}
    outer, _told.steps = _told.steps, own
    try:
        yield
    finally:
        _told.steps = outer
        for loop, steps in own.items():
            _wake(loop, partial(_run, steps))


class Waiter(asyncio.Future[Result]):
    """The loop's side of a thread's future. Cancelling the waiter cancels that future, without a callback."""

    promise: "Future[Result] | None" = None

    def cancel(self, msg: Any = None) -> bool:
        is_canceled = super().cancel(msg)
        promise, self.promise = self.promise, None
        if promise is not None:
            promise.cancel()
        return is_canceled

    def settle(self) -> None:
        """Take over the outcome of the thread's future, which is done; nothing where the waiter was cancelled.

        The reference circle with the future, whose callbacks refer to this waiter, ends: else both would be garbage
        that only the collector finds."""
        promise, self.promise = self.promise, None
        if promise is None:
            return
        if promise.cancelled():
            super().cancel()
        elif error := promise.exception():  # raised here, it would hold this frame, and so itself
            self.set_exception(error)
        else:
            self.set_result(promise.result())


def awaited(promise: "Future[Result]") -> Waiter[Result]:
    """Wrap a thread's future for the running loop, as `asyncio.wrap_future` does. Cancelling the waiter cancels the
    future. A future that is done already costs no wake-up."""
    waiter: Waiter[Result] = Waiter(loop=asyncio.get_running_loop())
    waiter.promise = promise
    if promise.done():
        waiter.settle()
    else:
        promise.add_done_callback(partial(_kept, waiter))
    return waiter


def _kept(waiter: Waiter[Any], _: "Future[Any]") -> None:
    """Tell the loop, on the thread that resolved the future or on the loop's own."""
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
