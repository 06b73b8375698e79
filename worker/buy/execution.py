"""Claimed tasks on their way to their providers (step 11). What they need is read, and their intents are committed, for
all of a claim together; then each is paid on a thread of its own.

Reading and intents are `worker/buy/jobs.py`'s, the calls themselves `worker/buy/purchase.py`'s.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial

from adapters.base import ErrorKind
from common import backoff, swallowed
from common.database.database_retry import insist
from common.documents import Unreadable
from common.logs import bind
from tasks import failures
from tasks.assets.inputs import InputGone
from tasks.claims.starting import Claimed
from worker.buy import failed_calls, jobs, purchase
from worker.buy.jobs import NotNow, Purchase, RouteGone, TakenOver
from worker.deliver.delivery import Underway
from worker.threads import ThreadPool

logger = logging.getLogger(__name__)
NOT_ENDED_AT_ONCE = 4
SLOW_SECONDS = 1.0


class Execution:
    """Runs claimed tasks for one worker process; after `stop` what has not been bought yet is handed back."""

    def __init__(self, worker_id: str) -> None:
        self.worker_id = worker_id
        self._is_stopping = False
        self._paying: set[tuple[str, int]] = set()
        self._in_hand: set[tuple[str, int]] = set()
        self._changed = threading.Condition()
        self._underway: dict[tuple[str, int], tuple[float, Underway]] = {}
        self._not_ended = ThreadPool("not ended", NOT_ENDED_AT_ONCE)

    @property
    def in_hand(self) -> frozenset[tuple[str, int]]:
        """The tasks, by id and attempt, that are being executed or are about to be."""
        with self._changed:
            return frozenset(self._in_hand)

    def take(self, tasks: Iterable[Claimed]) -> None:
        """These will be run."""
        with self._changed:
            self._in_hand.update((task.id, task.attempt) for task in tasks)

    def stop(self) -> None:
        """Begin no further paid call."""
        with self._changed:
            self._is_stopping = True

    def note_slow(self) -> None:
        """Record that the providers have finished the tasks whose ends have waited for a second. Tasks whose batch is
        running are left out: it holds their locks, and the others would wait for them."""
        before = time.monotonic() - SLOW_SECONDS
        with self._changed:
            waiting = [key for key, (_, underway) in self._underway.items() if not underway.promise.running()]
            slow = [key for key in waiting if self._underway[key][0] < before]
            notes = [self._underway.pop(key)[1].note for key in slow]
        for note in notes:
            note()

    def wait_room(self, most: int, seconds: float) -> int:
        """Wait until fewer than so many tasks are in hand; how many fewer, or 0 if that took too long."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._in_hand) < most, seconds)
            return max(0, most - len(self._in_hand))

    def wait_paid(self, seconds: float) -> bool:
        """Wait until no paid call is in flight; False if that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._paying, seconds)

    def run(self, tasks: Sequence[Claimed], start: Callable[[Callable[[], None]], object]) -> None:
        """From the claim to the providers' answers, leaving each task in a defined state whatever happens. `start` has
        each purchase made where it may take its time."""
        found: Sequence[Purchase | Exception] = [NotNow("the worker stops")] * len(tasks)
        if self._may_pay(tasks):
            found = jobs.prepare(tasks, self.worker_id)
        left: list[tuple[Claimed, Exception]] = []
        for task, each in zip(tasks, found, strict=True):
            if isinstance(each, Purchase):
                start(partial(self._run_to_its_end, task, partial(purchase.make, each)))
            else:
                left.append((task, each))
        for task, why in left:  # after the others, whose intents are committed: these may wait for the database
            self._run_to_its_end(task, partial(leave, task, why))

    def _may_pay(self, tasks: Iterable[Claimed]) -> bool:
        # Judged and counted under one lock: a stop either comes before, or waits for these calls.
        with self._changed:
            if not self._is_stopping:
                self._paying.update((task.id, task.attempt) for task in tasks)
            return not self._is_stopping

    def _run_to_its_end(self, task: Claimed, last: Callable[[], Underway | None]) -> None:
        """Run what is left to do for a task here; from then on its rows say what becomes of it. Nobody waits for an end
        that goes into a batch: this thread is free for another task."""
        underway: Underway | None = None
        with bind(task_id=task.id, attempt=task.attempt):
            try:
                underway = last()
            except Exception:
                swallowed.note("worker.execution")
                fail(task)
        if underway is None:
            self._let_go(task)
        else:
            with self._changed:
                self._underway[task.id, task.attempt] = (time.monotonic(), underway)
            underway.promise.add_done_callback(partial(self._ended, task, underway))

    def _ended(self, task: Claimed, underway: Underway, promise: "Future[bool]") -> None:
        if promise.exception() is None and promise.result():
            self._let_go(task)
        else:
            self._not_ended.start(partial(self._run_to_its_end, task, underway.anew))

    def _let_go(self, task: Claimed) -> None:
        with self._changed:
            self._underway.pop((task.id, task.attempt), None)
            self._in_hand.discard((task.id, task.attempt))
            self._paying.discard((task.id, task.attempt))
            self._changed.notify_all()


def fail(task: Claimed) -> None:
    """It was a fault of ours. One that cannot be ended, because its books are wrong, keeps no other: it is only
    logged."""
    try:
        insist(failed_calls.fail, task, failures.INTERNAL)
    except Exception:
        logger.error("task %s cannot be ended", task.id)
        swallowed.note("worker.fail")


def leave(task: Claimed, why: Exception) -> None:
    """What becomes of a task that is not bought, for this reason; any other is a fault of ours."""
    match why:
        case TakenOver():
            logger.info("%s", why)
        case RouteGone():
            logger.warning("route %s is skipped: %s", task.route_id, why)
            insist(failed_calls.leave_route, task)
        case InputGone():
            insist(failed_calls.fail, task, failures.OF_KIND[ErrorKind.ASSET_UNREACHABLE])
        case Unreadable():
            logger.error("task %s is not bought, and waits for a worker that can read it: %s", task.id, why)
            insist(failed_calls.hand_back, task, wait_seconds=backoff.seconds(task.requeues))
        case NotNow():
            insist(failed_calls.hand_back, task)
        case _:
            raise why
