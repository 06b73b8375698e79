"""An event loop whose clock stands still while anything can run, and else jumps to what comes next."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class Jumping(selectors.DefaultSelector):
    """Waits for nothing: time goes by at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("everything waits for something that never comes")
        self.now += 0 if ready else timeout or 0
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Begins at 0.0 seconds."""

    def __init__(self) -> None:
        self._jumping = Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def seconds_of(work: Coroutine[Any, Any, Any]) -> float:
    """Run it to its end; how long it took."""
    loop = VirtualLoop()
    try:
        loop.run_until_complete(work)
        return round(loop.time(), 3)
    finally:
        loop.close()
