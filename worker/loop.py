"""Step 7, the process: lanes that claim, poll and sweep, a heartbeat, and an orderly end."""

import logging
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import connections

from billing import seals
from callbacks import claims
from common import sql
from common.database_retry import AWAY, is_passing, reset_connections
from tasks import leases, queue
from tasks.models import Worker
from tasks.request import url_policy
from worker.buy.execution import Execution
from worker.callbacks import Callbacks
from worker.follow.polling import Polling
from worker.heal import adoption, deadlines, probes
from worker.heal.adoption import OwnOrphans
from worker.seats import Seats

logger = logging.getLogger(__name__)

LANES = ("tasks", "callbacks", "janitor")
CLAIM_SECONDS = 0.04
FULL_SECONDS = 0.15  # tasks wait, but limits or busy routes hold them back
POLL_SECONDS = 0.1
SWEEP_SECONDS = 1.0
ORPHAN_SECONDS = 5.0
PRUNE_SECONDS = 60.0
DISCARD_SECONDS = 5.0
PROBE_SECONDS = 2.0
SEAL_SECONDS = 600.0  # between looks whether a day has passed
WATCH_SECONDS = 0.1
STEP_SECONDS = 3.0
LAST_STEP_SECONDS = 1.0
AWAY_SECONDS = 1.0


class Loop:
    """The lanes of one worker process, already registered. `run` returns when the work in hand is done after a stop."""

    def __init__(self, worker_id: str, lanes: tuple[str, ...], *, concurrency: int, drain: bool = False) -> None:
        self.id = worker_id
        self.lanes = lanes
        self.drain = drain
        self.is_asked_to_stop = False
        self.execution = Execution(self.id)
        self.polling = Polling(self.id)
        self.seats = Seats("task", concurrency)
        self._orphans = OwnOrphans(self.id, lambda: self.execution.in_hand)
        self._beaten_at = time.monotonic()
        self._adopts_from = 0.0
        self._stopping = threading.Event()
        self.callbacks = Callbacks(self._stopping, url_policy.current())
        self._finished = threading.Event()

    def ask_to_stop(self) -> None:
        """Safe in a signal handler, which could wait for ever for a lock that the thread under it holds."""
        self.is_asked_to_stop = True

    def run(self) -> None:
        """Work until asked to stop, or with `drain` until nothing is left."""
        logger.info("worker %s starts with lanes %s", self.id, ",".join(self.lanes))
        self._start(self._beat, self._finished)
        lanes: list[threading.Thread] = []
        if "tasks" in self.lanes:
            self._start(self._poll, self._finished)
            lanes = [self._start(step, self._stopping) for step in (self._claim, self._adopt, self._find_orphans)]
        if "callbacks" in self.lanes:
            lanes.append(self._start(self.callbacks.step, self._stopping))
        if "janitor" in self.lanes:
            steps = (self._sweep, self._prune, self._discard_inputs, self._probe, self._seal)
            lanes += [self._start(step, self._stopping) for step in steps]
        while not self.is_asked_to_stop and not (self.drain and is_drained()):
            time.sleep(WATCH_SECONDS)
        self._finish(lanes)

    def _start(self, step: Callable[[], float], end: threading.Event) -> threading.Thread:
        thread = threading.Thread(target=self._repeat, args=(step, end), name=step.__qualname__, daemon=True)
        thread.start()
        return thread

    def _repeat(self, step: Callable[[], float], end: threading.Event) -> None:
        """Do the step until the end; it returns how many seconds to wait. A database that is away is waited for."""
        while not end.is_set():
            try:
                pause = step()
            except AWAY as error:
                if is_passing(error):
                    logger.warning("the database is away: %s", error)
                else:
                    logger.exception("a step of the worker failed")
                reset_connections()
                pause = AWAY_SECONDS
            except Exception:
                logger.exception("a step of the worker failed")
                pause = AWAY_SECONDS
            if pause >= SWEEP_SECONDS:
                connections.close_all()
            if pause:
                end.wait(pause)
        connections.close_all()

    def _claim(self) -> float:
        if not self.seats.wait_free(CLAIM_SECONDS) or self._stopping.is_set():
            return 0.0
        if not queue.has_waiting():
            return CLAIM_SECONDS
        claim = queue.claim(self.id, seats=self.seats.free)
        self.execution.take(claim.tasks)
        for task in claim.tasks:
            self.seats.start(self.execution.run, task)
        deadlines.end_stranded(claim.stranded)
        return 0.0 if claim.tasks else FULL_SECONDS

    def _poll(self) -> float:
        return 0.0 if self.polling.tick() else POLL_SECONDS

    def _adopt(self) -> float:
        now, half = time.monotonic(), settings.WORKER_LEASE / 2
        if now - self._beaten_at <= half and now >= self._adopts_from:
            adoption.adopt(self.id)
        return SWEEP_SECONDS

    def _find_orphans(self) -> float:
        self._orphans.sweep()
        return ORPHAN_SECONDS

    def _sweep(self) -> float:
        deadlines.enforce_deadlines()
        return SWEEP_SECONDS

    def _prune(self) -> float:
        deadlines.prune(self._stopping)
        return PRUNE_SECONDS

    def _discard_inputs(self) -> float:
        deadlines.discard_inputs(self._stopping)
        return DISCARD_SECONDS

    def _probe(self) -> float:
        return 0.0 if probes.probe_one() else PROBE_SECONDS

    def _seal(self) -> float:
        seals.seal_daily()
        return SEAL_SECONDS

    def _beat(self) -> float:
        leases.heartbeat(self.id)
        now, half = time.monotonic(), settings.WORKER_LEASE / 2
        if now - self._beaten_at > half:
            # The database was away, or this machine asleep, and the others could not renew their leases either: they
            # get the time to, before this worker takes them for dead.
            self._adopts_from = now + half
        self._beaten_at = now
        if not Worker.objects.filter(id=self.id, stopped_at=None).exists():
            logger.error("this worker was declared stopped by somebody else; it ends")
            self.ask_to_stop()
        return float(settings.WORKER_LEASE) / 4

    def _finish(self, lanes: list[threading.Thread]) -> None:
        """Finish the step in hand, wait for paid calls within the grace, then let others adopt the rest. Polls and
        heartbeats go on meanwhile."""
        started = time.monotonic()
        self.execution.stop()
        self._stopping.set()
        logger.info("worker %s finishes what it has in hand", self.id)
        for lane in lanes:
            lane.join(max(0.0, started + STEP_SECONDS - time.monotonic()))
        self.execution.wait_paid(settings.WORKER_GRACE)
        self.seats.wait_idle(max(0.0, started + STEP_SECONDS - time.monotonic()))
        self.callbacks.finish(max(0.0, started + STEP_SECONDS - time.monotonic()))
        self._finished.set()
        self.polling.close(max(LAST_STEP_SECONDS, started + STEP_SECONDS - time.monotonic()))
        try:
            leases.stop(self.id)
        except AWAY as error:
            logger.warning("the database is away, others wait for the lease to run out: %s", error)
        connections.close_all()
        logger.info("worker %s stops after %.1f s", self.id, time.monotonic() - started)


def is_drained() -> bool:
    """Whether no task is queued or running and no delivery is due; False while the database is away.

    Deliveries are looked for last: the task that ends in between leaves one.
    """
    try:
        live = sql.fetch("SELECT 1 FROM tasks_task WHERE status IN ('queued', 'running') LIMIT 1")
        return not live and not claims.has_due()
    except AWAY as error:
        if not is_passing(error):
            raise
        reset_connections()
        return False
