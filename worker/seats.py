"""A bounded number of daemon threads, so that a stuck call can never hold up the end of the process."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from common.database.database_retry import release_connection

logger = logging.getLogger(__name__)
LINGER_SECONDS = 1.0
PATIENCE_SECONDS = 0.002


class Seats:
    """Runs jobs on at most `size` threads; the others wait in line. A thread without a job stays a moment for the next
    one, and then ends.

    Threads are called one after the other: who takes a job calls the next, if there is more. Who is called stands by
    while others come back for more themselves. So jobs that take no time are done by few threads: many would only fight
    for the interpreter.
    """

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._threads = 0
        self._idle = 0
        self._busy = 0
        self._is_called = False
        self._done = 0
        self._are_slow = False
        self._line: deque[Callable[[], None]] = deque()
        lock = threading.RLock()
        self._changed = threading.Condition(lock)
        self._work = threading.Condition(lock)

    @property
    def free(self) -> int:
        with self._changed:
            return self._free()

    def start(self, job: Callable[..., None], *arguments: Any) -> None:
        """Run the job on a seat as soon as one is free. An exception of the job is logged and ends only the job."""
        with self._changed:
            self._line.append(partial(job, *arguments) if arguments else job)
            self._call()

    def start_anyhow(self, job: Callable[[], None]) -> None:
        """The same, for a job that others wait for: where the system has no thread left for any seat, it runs here."""
        with self._changed:
            self.start(job)
            is_stranded = not self._threads
            if is_stranded:
                self._line.remove(job)
        if is_stranded:
            job()

    def wait_free(self, seconds: float) -> bool:
        """Wait until a seat is free; False if none was."""
        with self._changed:
            return self._changed.wait_for(lambda: self._free() > 0, seconds)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until every seat is free; False if that took too long."""
        with self._changed:
            return self._changed.wait_for(self._is_idle, seconds)

    def clear(self) -> None:
        """Forget what waits in line."""
        with self._changed:
            self._line.clear()
            self._changed.notify_all()

    def _free(self) -> int:
        return max(0, self.size - self._busy - len(self._line))

    def _is_idle(self) -> bool:
        return not self._threads or not (self._busy or self._line)

    def _call(self) -> None:
        """Have somebody come for the line, unless it is empty, or one is on the way. The lock is held."""
        if not self._line or self._is_called:
            return
        if self._idle:
            self._is_called = True
            self._work.notify()
        elif self._threads < self.size:
            self._seat_one_more()

    def _seat_one_more(self) -> None:
        try:
            threading.Thread(target=self._run, name=self.name, daemon=True).start()
            self._threads += 1
            self._is_called = True
        except RuntimeError:  # the system has no thread left; the line waits for the next that runs
            logger.exception("no thread for a job")

    def _run(self) -> None:
        with self._changed:
            self._come()
            job = self._next()
        while job:
            try:
                job()
            except Exception:
                logger.exception("a job on a seat failed")
            finally:
                release_connection()
            with self._changed:
                self._rise()
                self._are_slow = self._are_slow and not self._line  # it takes the next itself
                job = self._next()

    def _come(self) -> None:
        """Who was called waits while there is no need of it: the others have work, and one of them ends a job now and
        then. The lock is held."""
        while self._line and self._busy and not self._are_slow:
            done = self._done
            self._work.wait(PATIENCE_SECONDS)
            self._are_slow = self._done == done
        self._is_called = False

    def _rise(self) -> None:
        self._busy -= 1
        self._done += 1
        if self._free() == 1 or self._is_idle():  # only this is waited for: to be woken costs more than short jobs
            self._changed.notify_all()

    def _next(self) -> Callable[[], None] | None:
        """The next job in line; None where none came for a while, and the thread is to end. The lock is held."""
        self._idle += 1
        self._wait_for_work()
        self._idle -= 1
        if self._line:
            job = self._line.popleft()
            self._busy += 1
            self._call()
            return job
        self._threads -= 1
        self._changed.notify_all()
        return None

    def _wait_for_work(self) -> None:
        ends_at = time.monotonic() + LINGER_SECONDS
        while not self._line and (left := ends_at - time.monotonic()) > 0:
            self._work.wait(left)
            self._come()
