"""Deadlines that pass when a test says so: however slow the machine is, it is known how far the call had come."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from common.outgoing.dial import Deadline, warden
from tests.threads import joined
from tools.children import wait_until


def running() -> list[Deadline]:
    """Those of this process that run now."""
    return warden.running


def end() -> None:
    """End them as if their time had passed."""
    for deadline in running():
        deadline.ends_at = 0.0
        deadline.shut_all()


@contextmanager
def ended_once(condition: Callable[[], object]) -> Iterator[None]:
    """Meanwhile, those that run when the condition first holds are ended."""

    def watch() -> None:
        wait_until(condition)
        end()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield
    joined(thread)
