"""Fails rows that take too long."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from bench.model import Incorrect


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises Incorrect in the block once the seconds have passed. Works only on the main thread: rows that run beside
    others rely on the timeouts of their steps."""
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
