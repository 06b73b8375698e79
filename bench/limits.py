"""A row never hangs: what takes too long has failed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from bench.model import Incorrect


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises Incorrect in the block, wherever it is, when the seconds have passed. On the main thread only: a row that
    runs beside others has but the patience of its steps."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        raise Incorrect(f"took too long: more than {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
