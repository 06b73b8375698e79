"""Threads of the worker: a bounded pool for jobs that may take their time, and steps that many tasks take together.

All of them are daemons, so that a stuck call can never hold up the end of the process.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic, TypeVar

from common import swallowed
from common.concurrency.gathering import Gathering
from common.database.database_retry import apart, insist, release_connection
from common.postgresql import doors

logger = logging.getLogger(__name__)
LINGER_SECONDS = 1.0
PATIENCE_SECONDS = 0.002

Item = TypeVar("Item")
Result = TypeVar("Result")


class ThreadPool:
    """Runs jobs on at most `size` threads; the others wait in line. A thread without a job stays a moment for the next
    one, and then ends.

    Threads are called one after the other: the one that takes a job calls the next, if there is more. A called thread
    stands by while the others end jobs and come back for more themselves. So jobs that take no time are done by few
    threads, which fight less for the interpreter: with it a worker ends 1,250 tasks a second, and 600 without
    (`worker-life`, 400 threads, an adapter that answers at once).
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
        """How many more jobs would begin at once."""
        with self._changed:
            return self._free()

    def start(self, job: Callable[..., None], *arguments: Any) -> None:
        """Run the job as soon as a thread is free. An exception of the job is logged and ends only the job."""
        with self._changed:
            self._line.append(partial(job, *arguments) if arguments else job)
            self._call()

    def wait_free(self, seconds: float) -> bool:
        """Wait until a thread is free; False if none was."""
        with self._changed:
            return self._changed.wait_for(lambda: self._free() > 0, seconds)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until no job runs or waits; False if that took too long."""
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
        """Have a thread come for the line, unless it is empty, or one is on the way. The lock is held."""
        if not self._line or self._is_called:
            return
        if self._idle:
            self._is_called = True
            self._work.notify()
        elif self._threads < self.size:
            self._add_thread()

    def _add_thread(self) -> None:
        try:
            threading.Thread(target=self._run, name=self.name, daemon=True).start()
            self._threads += 1
            self._is_called = True
        except RuntimeError:  # the system has no thread left; the line waits for the next that runs
            logger.exception("no thread for a job")

    def _run(self) -> None:
        with self._changed:
            self._stand_by()
            job = self._next()
        while job:
            try:
                job()
            except Exception:
                swallowed.note("worker.job")
            finally:
                release_connection()
            with self._changed:
                self._end_job()
                job = self._next()

    def _stand_by(self) -> None:
        """Wait while the called thread is not needed: the others have work, and one of them ends a job now and then.
        The lock is held."""
        while self._line and self._busy and not self._are_slow:
            done = self._done
            self._work.wait(PATIENCE_SECONDS)
            self._are_slow = self._done == done
        self._is_called = False

    def _end_job(self) -> None:
        self._busy -= 1
        self._done += 1
        self._are_slow = self._are_slow and not self._line  # else this thread takes the next job itself
        if self._free() == 1 or self._is_idle():  # only these are waited for: to be woken costs more than short jobs
            self._changed.notify_all()

    def _next(self) -> Callable[[], None] | None:
        """Take the next job in line; None where none came for a while, and the thread is to end. The lock is held."""
        ends_at = time.monotonic() + LINGER_SECONDS
        self._idle += 1
        while not self._line and (left := ends_at - time.monotonic()) > 0:
            self._work.wait(left)
            self._stand_by()
        self._idle -= 1
        if self._line:
            job = self._line.popleft()
            self._busy += 1
            self._call()
            return job
        self._threads -= 1
        self._changed.notify_all()
        return None


Step = Callable[[Sequence[Item]], Sequence[Result | Exception]]
"""Returns for each item its result, or why it goes no further. All of it may be repeated (`insist`)."""


class BatchedStep(Generic[Item, Result]):
    """A step that many threads take together: what comes while a batch is at work goes into the next one.

    Batches run one after the other on a thread of their own, which ends when nothing is left. It alone needs a
    connection to the database, and gives that back after each batch; the others wait without one. Where a batch fails,
    each of its items is tried, down to those that fail alone.
    """

    def __init__(self, name: str, step: Step[Item, Result]) -> None:
        self._name = name
        self._step = step
        self._gathering: Gathering[Item, Result] = Gathering(self._run, start=self._start)

    def add(self, item: Item) -> "Future[Result]":
        """Have the step taken for this item. The future has what the step met where it was taken alone. It is settled
        by the batch's thread, which its callbacks must not hold up."""
        return self._gathering.add(item)

    def take(self, item: Item) -> Result:
        """Wait for this item's result. Raises what the step met."""
        return result(self.add(item))

    def _start(self, batches: Callable[[], None]) -> None:
        try:
            threading.Thread(target=batches, name=self._name, daemon=True).start()
        except RuntimeError:  # the system has no thread left, and others wait for this
            logger.exception("no thread for %s: they are taken here", self._name)
            batches()

    def _run(self, batch: Sequence[Item]) -> Sequence[Result | Exception]:
        before = doors.kind.set("lanes")
        try:
            return apart(partial(insist, self._step), batch)
        finally:
            release_connection()
            doors.kind.reset(before)


def result(future: "Future[Result]") -> Result:
    """Wait for a batch without a connection to the database, since the batch needs one."""
    release_connection()
    return future.result()
