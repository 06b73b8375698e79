"""A row never hangs: what takes too long has failed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from bench.model import Incorrect


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises Incorrect in the block, wherever it is, when the seconds have passed. Of the main thread only."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise Incorrect(f"took too long: more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
