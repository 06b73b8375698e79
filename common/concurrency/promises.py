"""Futures that threads resolve and an event loop awaits."""

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


class Waiter(asyncio.Future[Result]):
    """The loop's side of a thread's future. Cancelling the waiter cancels that future, without a callback."""

    def __init__(self, promise: "Future[Result]") -> None:
        super().__init__(loop=asyncio.get_running_loop())
        self._promise: Future[Result] | None = promise

    def cancel(self, msg: Any = None) -> bool:
        is_canceled = super().cancel(msg)
        if promise := self._let_go():
            promise.cancel()
        return is_canceled

    def settle(self) -> None:
        """Take over the outcome of the thread's future, which is done; nothing where the waiter was cancelled."""
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
        """Break the reference circle with the future, whose callbacks refer to this waiter: else it would be garbage
        that only the collector finds."""
        promise, self._promise = self._promise, None
        return promise


def awaited(promise: "Future[Result]") -> Waiter[Result]:
    """Wrap a thread's future for the running loop, as `asyncio.wrap_future` does. Cancelling the waiter cancels the
    future. A future that is done already costs no wake-up."""
    waiter = Waiter(promise)
    if promise.done():
        waiter.settle()
    else:
        promise.add_done_callback(partial(_kept, waiter))
    return waiter


def _kept(waiter: Waiter[Any], _: "Future[Any]") -> None:
    """Tell the loop, on the thread that resolved the future or on the loop's own."""
    with suppress(RuntimeError):  # it is closed, and nobody waits
        waiter.get_loop().call_soon_threadsafe(waiter.settle)
