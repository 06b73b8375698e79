"""A bounded number of daemon threads, so that a stuck call can never hold up the end of the process."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import connections

logger = logging.getLogger(__name__)


class Seats:
    """Runs jobs on threads of their own, at most `size` at once; the others wait in line."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._busy = 0
        self._line: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()

    @property
    def free(self) -> int:
        with self._changed:
            return self._free()

    def start(self, job: Callable[..., None], *arguments: Any) -> None:
        """Run the job on a seat as soon as one is free. An exception of the job is logged and ends only the job."""
        with self._changed:
            self._line.append(partial(job, *arguments))
            if self._busy < self.size:
                self._seat_next()

    def wait_free(self, seconds: float) -> bool:
        """Wait until a seat is free; False if none was."""
        with self._changed:
            return self._changed.wait_for(lambda: self._free() > 0, seconds)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until every seat is free; False if that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: self._busy == 0, seconds)

    def clear(self) -> None:
        """Forget what waits in line."""
        with self._changed:
            self._line.clear()

    def _free(self) -> int:
        return max(0, self.size - self._busy - len(self._line))

    def _seat_next(self) -> None:
        job = self._line.popleft()
        try:
            threading.Thread(target=self._run, args=(job,), name=self.name, daemon=True).start()
            self._busy += 1
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
        with self._changed:
            if self._line:
                job: Callable[[], None] | None = self._line.popleft()
            else:
                job = None
                self._busy -= 1
            self._changed.notify_all()
            return job
