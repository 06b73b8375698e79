"""A bounded number of daemon threads, so that a stuck call can never hold up the end of the process."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import connections

logger = logging.getLogger(__name__)
LINGER_SECONDS = 1.0


class Seats:
    """Runs jobs on at most `size` threads; the others wait in line. A thread without a job stays a moment for the next
    one, and then ends."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._threads = 0
        self._idle = 0
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
            if self._idle >= len(self._line):
                self._work.notify()
            elif self._threads < self.size:
                self._seat_next()

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

    def _free(self) -> int:
        return max(0, self.size - self._threads + self._idle - len(self._line))

    def _is_idle(self) -> bool:
        return not self._threads or (self._threads == self._idle and not self._line)

    def _seat_next(self) -> None:
        job = self._line.popleft()
        try:
            threading.Thread(target=self._run, args=(job,), name=self.name, daemon=True).start()
            self._threads += 1
        except RuntimeError:  # the system has no thread left; the job is first in line for the next that runs
            logger.exception("no thread for a job")
            self._line.appendleft(job)

    def _run(self, job: Callable[[], None] | None) -> None:
        while job:
            try:
                job()
            except Exception:
                logger.exception("a job on a seat failed")
            finally:
                connections.close_all()
            job = self._next()

    def _next(self) -> Callable[[], None] | None:
        """The next job in line; None where none came for a while, and the thread is to end."""
        with self._changed:
            self._idle += 1
            self._changed.notify_all()
            self._work.wait_for(lambda: self._line, LINGER_SECONDS)
            self._idle -= 1
            if self._line:
                return self._line.popleft()
            self._threads -= 1
            return None
