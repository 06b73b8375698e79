"""Step 8: one claimed task on its way to its provider: what it needs is read, and the intent committed.

The calls themselves are `worker/buy/purchase.py`'s.
"""

import logging
import threading
from collections.abc import Iterable

from django.db import IntegrityError

from adapters.base import ErrorKind
from catalog import connections, snapshot
from common import backoff, urls
from common.database_retry import insist
from common.documents import Unreadable
from common.logs import bind
from tasks import failures, paid_calls
from tasks.assets.inputs import InputGone
from tasks.paid_calls import Intended
from tasks.queue import Claimed
from worker.buy import failed_calls, jobs, purchase
from worker.buy.jobs import Job, RouteGone
from worker.buy.purchase import Purchase

logger = logging.getLogger(__name__)


class Execution:
    """Runs claimed tasks for one worker process; after `stop` what has not been bought yet is handed back."""

    def __init__(self, worker_id: str) -> None:
        self.worker_id = worker_id
        self._is_stopping = False
        self._paying = 0
        self._in_hand: set[tuple[str, int]] = set()
        self._changed = threading.Condition()

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

    def wait_paid(self, seconds: float) -> bool:
        """Wait until no paid call is in flight; False if that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._paying, seconds)

    def run(self, task: Claimed) -> None:
        """From the claim to the provider's answer, leaving the task in a defined state whatever happens."""
        with bind(task_id=task.id, attempt=task.attempt):
            try:
                self._run(task)
            except Exception:
                logger.exception("the execution failed before its paid call")
                insist(failed_calls.fail, task, failures.INTERNAL)
            finally:
                with self._changed:
                    self._in_hand.discard((task.id, task.attempt))

    def _run(self, task: Claimed) -> None:
        try:
            job = insist(jobs.load, task)
        except RouteGone as gone:
            logger.warning("route %s is skipped: %s", task.route_id, gone)
            return insist(failed_calls.leave_route, task)
        except InputGone:
            return insist(failed_calls.fail, task, failures.OF_KIND[ErrorKind.ASSET_UNREACHABLE])
        except Unreadable as strange:
            logger.error("task %s is not bought, and waits for a worker that can read it: %s", task.id, strange)
            return insist(failed_calls.hand_back, task, wait_seconds=backoff.seconds(task.requeues))
        if not self._may_pay():
            return insist(failed_calls.hand_back, task)
        try:
            self._buy(job)
        finally:
            with self._changed:
                self._paying -= 1
                self._changed.notify_all()

    def _may_pay(self) -> bool:
        # Judged and counted under one lock: a stop either comes before, or waits for this call.
        with self._changed:
            if not self._is_stopping:
                self._paying += 1
            return not self._is_stopping

    def _buy(self, job: Job) -> None:
        credential_id, connection = insist(
            connections.to,
            job.route.channel.id,
            job.target,
            total_timeout=job.call_seconds,
            payer=str(job.account_id),
        )
        if credential_id is None and insist(has_moved, job):
            return insist(failed_calls.hand_back, job.task)
        intent = paid_calls.Intent(
            task_id=job.task.id,
            attempt=job.task.attempt,
            worker_id=self.worker_id,
            route_id=job.route.id,
            channel_id=job.route.channel.id,
            credential_id=credential_id,
            target=job.target,
            request_digest=job.upstream.digest(),
            passed=job.task.passed,
        )
        calls = insist(intend, intent, job.upstream.calls)
        if not calls:
            logger.info("the task was taken over before its paid call")
            return
        purchase.make(Purchase(job=job, calls=calls, credential_id=credential_id, connection=connection))


def has_moved(job: Job) -> bool:
    """Whether the channel has gone to another origin since the job was read, and its credential with it."""
    route = snapshot.latest().route(job.route.id)
    return route is None or urls.origin(route.target.base_url) != urls.origin(job.target.base_url)


def intend(intent: paid_calls.Intent, count: int) -> tuple[Intended, ...]:
    """The committed intents, also of an earlier try whose commit went unseen; none: do not call."""
    try:
        return paid_calls.intend(intent, count)
    except IntegrityError:
        return paid_calls.committed(intent)
