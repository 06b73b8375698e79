"""The callbacks lane: claims due deliveries, sends each on a seat of its own, records what came of it."""

import logging
import threading
from collections import Counter

from callbacks import claims, deliveries, sender
from callbacks.claims import Claims
from callbacks.dealing import Receiver
from callbacks.deliveries import Due
from common.database import database_retry
from common.logs import bind
from common.outbound import UrlPolicy
from tasks.shown import callback_bodies
from worker.lanes import SAFETY_SECONDS, WorkerLane, at_most
from worker.threads import ThreadPool

logger = logging.getLogger(__name__)

SEATS = 96
# Receivers that have failed before never hold more than these, so that first attempts find a seat.
RETRY_SEATS = SEATS // 2
FULL_SECONDS = 0.25  # deliveries are due, but their receivers have no more seats
BUSY_SECONDS = 0.05  # what comes due within is claimed together


class Callbacks:
    """The lane of one worker. `step` is repeated until the stop, then `finish` is called once."""

    def __init__(self, stopping: threading.Event, policy: UrlPolicy) -> None:
        self._stopping = stopping
        self._policy = policy
        self._seats = ThreadPool("callback", SEATS)
        self._lock = threading.Lock()
        self._claims = Claims()
        self._busy: Counter[Receiver] = Counter()
        self._retries = 0
        self.lane = WorkerLane(self.step, stopping)

    def step(self) -> float:
        """Claim what there are seats for and start sending it; returns the seconds to wait before the next step."""
        if not self._seats.wait_free(FULL_SECONDS):
            return 0.0
        wait = claims.seconds_to_next()
        if wait != 0:
            return at_most(SAFETY_SECONDS, wait)
        with self._lock:
            busy, retry_seats = dict(self._busy), RETRY_SEATS - self._retries
        claimed = self._claims.claim(seats=self._seats.free, retry_seats=retry_seats, busy=busy)
        for due in claimed:
            self._count(due, 1)
            self._seats.start(self._send, due)
        database_retry.release_connection()
        self._stopping.wait(BUSY_SECONDS)
        return 0.0 if claimed else FULL_SECONDS

    def finish(self, seconds: float) -> None:
        """Wait that long for what is being sent; what is not recorded by then comes due again with its claim's end."""
        self._seats.wait_idle(seconds)

    def _send(self, due: Due) -> None:
        try:
            if self._stopping.is_set():
                claims.give_back(due)
                return
            with bind(task_id=due.task_id, delivery_attempt=due.number):
                outcome = sender.deliver(due, callback_bodies.make, policy=self._policy)
                logger.info("callback: %s in %d ms", outcome.status_code or outcome.error, outcome.duration_ms)
                database_retry.insist(deliveries.record, due, outcome)
        except database_retry.AWAY as error:
            logger.warning("delivery %s comes due again when its claim ends: %s", due.id, error)
        finally:
            self._count(due, -1)
            self.lane.wake()

    def _count(self, due: Due, change: int) -> None:
        with self._lock:
            receiver = due.account_id, due.host
            self._busy[receiver] += change
            self._retries += change if due.number > 1 else 0
            if not self._busy[receiver]:
                del self._busy[receiver]
