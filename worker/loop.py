"""Step 10, the process: lanes that claim, poll and sweep, a heartbeat, and an orderly end."""

import logging
import threading
import time
from collections.abc import Mapping

from django.conf import settings
from django.db import connections

from billing import lost_calls, seals, web_processes
from callbacks import claims
from catalog.health import probes, probing, rests
from common import sql
from common.concurrency import wakeups
from common.concurrency.wakeups import Ring, Topic
from common.database.database_retry import AWAY, is_passing, release_connection, reset_connections
from common.postgresql import doors
from common.postgresql.doors import Kind
from tasks import leases, swallowed_counts
from tasks.claims import queue
from tasks.figures.folding import Folding
from tasks.request import url_policy
from worker.buy.execution import Execution
from worker.callbacks import Callbacks
from worker.follow.polling import Polling
from worker.heal import adoption, deadlines, relayed
from worker.heal.adoption import OwnOrphans
from worker.lanes import SAFETY_SECONDS, WorkerLane, at_most
from worker.threads import ThreadPool

logger = logging.getLogger(__name__)

LANES = ("tasks", "callbacks", "janitor")
# Lanes and groups do the work of many at once. The crowd are the seats: what each writes by itself, such as a refusal.
CONNECTIONS: Mapping[Kind, int] = {"heartbeat": 1, "lanes": 2, "crowd": 4}
SEAT_SECONDS = 1.0
TOGETHER_SECONDS = 0.02
ENDING = 3  # times the seats: so many tasks are in hand at most, those among them that only wait for their end
FULL_SECONDS = 0.5  # tasks wait, but limits or busy routes hold them back; the end of another task wakes sooner
POLL_SECONDS = 0.1
ADOPT_SECONDS = 4.0
LOST_SECONDS = 8.0  # a lost call ends at most ten seconds after its lease
SWEEP_SECONDS = 1.0  # while a task is past its deadline
CALM_SWEEP_SECONDS = 4.0
ORPHAN_SECONDS = 10.0
PRUNE_SECONDS = 60.0
DISCARD_SECONDS = 10.0
PROBE_SECONDS = 10.0  # no credential is disabled for less
SEAL_SECONDS = 600.0  # between looks whether a day has passed
FOLD_SECONDS = 5.0  # while tasks end; pages add up what has ended since
CALM_FOLD_SECONDS = 120.0  # the end of a task wakes sooner
WATCH_SECONDS = 0.1
STEP_SECONDS = 3.0
LAST_STEP_SECONDS = 1.0


class Loop:
    """The lanes of one worker process, already registered. `run` returns when the work in hand is done after a stop."""

    def __init__(self, worker_id: str, lanes: tuple[str, ...], *, concurrency: int, drain: bool = False) -> None:
        self.id = worker_id
        self.lanes = lanes
        self.drain = drain
        self.is_asked_to_stop = False
        self.execution = Execution(self.id)
        self.polling = Polling(self.id)
        self.seats = ThreadPool("task", concurrency)
        self._folding = Folding()
        self._is_folded = False
        self._orphans = OwnOrphans(self.id, lambda: self.execution.in_hand)
        self._is_held_back = False
        self._has_found = self._was_refused = False
        self._beaten_at = time.monotonic()
        self._adopts_from = 0.0
        self._stopping = threading.Event()
        self._finished = threading.Event()
        self.callbacks = Callbacks(self._stopping, url_policy.current())
        self._claims = WorkerLane(self._claim, self._stopping, kind="claims")
        self._adoptions = WorkerLane(self._adopt, self._stopping, kind="claims")
        self._polls = WorkerLane(self._poll, self._finished)
        self._folds = WorkerLane(self._fold, self._stopping)
        self._running: list[WorkerLane] = []

    def ask_to_stop(self) -> None:
        """Safe in a signal handler, which could wait for ever for a lock that the thread under it holds."""
        self.is_asked_to_stop = True

    def run(self) -> None:
        """Work until asked to stop, or with `drain` until nothing is left."""
        doors.kind.set("heartbeat")  # for the end of the lease, which waits for no lane
        logger.info("worker %s starts with lanes %s", self.id, ",".join(self.lanes))
        self._running = self._made()
        with wakeups.post.listening(self._rings()):
            for lane in self._running:
                lane.start()
            while not self.is_asked_to_stop and not (self.drain and is_drained()):
                time.sleep(WATCH_SECONDS)
            self._finish()

    def _rings(self) -> dict[Topic, Ring]:
        """To wake a lane that does not run does nothing."""
        return {
            "queued": self._claims.wake,
            "freed": self._freed,
            "stopped": self._adoptions.wake,
            "callbacks": self.callbacks.lane.wake,
        }

    def _made(self) -> list[WorkerLane]:
        made = [WorkerLane(self._beat, self._finished, kind="heartbeat")]
        if "tasks" in self.lanes:
            made += [self._polls, self._claims, self._adoptions, WorkerLane(self._find_orphans, self._stopping)]
        if "callbacks" in self.lanes:
            made.append(self.callbacks.lane)
        if "janitor" in self.lanes:
            steps = (self._sweep, self._prune, self._discard_inputs, self._probe, self._seal, self._end_lost_calls)
            made += [self._folds, *(WorkerLane(step, self._stopping) for step in steps)]
        return made

    def _claim(self) -> float:
        room = self.execution.wait_room(ENDING * self.seats.size, SEAT_SECONDS)
        if not self.seats.wait_free(SEAT_SECONDS) or not room or self._stopping.is_set():
            return 0.0
        if self._has_found:  # more may wait: what is claimed together costs little more than one
            self.seats.wait_idle(TOGETHER_SECONDS)
        self._is_held_back = True  # before anything is counted: who ends from now on wakes this lane
        if wait := at_most(SAFETY_SECONDS, queue.seconds_to_next()):
            self._is_held_back = self._has_found = self._was_refused = False
            return wait
        claim = queue.claim(self.id, seats=min(self.seats.free, room), looks_first=self._was_refused)
        self._has_found = bool(claim.tasks)
        self._was_refused = not claim.tasks
        self.execution.take(claim.tasks)
        self.execution.run(claim.tasks, self.seats.start)
        deadlines.end_stranded(claim.stranded)
        return 0.0 if claim.tasks else FULL_SECONDS

    def _freed(self) -> None:
        """A task has ended, and its places under the limits are free."""
        if self._is_held_back:
            self._claims.wake()
        if self._is_folded:
            self._folds.wake()

    def _poll(self) -> float:
        self.execution.note_slow()
        return 0.0 if self.polling.tick() else POLL_SECONDS

    def _adopt(self) -> float:
        if self._may_judge():
            adoption.adopt(self.id)
        return ADOPT_SECONDS

    def _end_lost_calls(self) -> float:
        if wait := at_most(LOST_SECONDS, lost_calls.seconds_to_next()):
            return wait
        return 0.0 if self._may_judge() and relayed.end_lost() else SWEEP_SECONDS

    def _may_judge(self) -> bool:
        """Whether the silence of others is their own."""
        now, half = time.monotonic(), settings.WORKER_LEASE / 2
        return now - self._beaten_at <= half and now >= self._adopts_from

    def _find_orphans(self) -> float:
        self._orphans.sweep()
        return ORPHAN_SECONDS

    def _sweep(self) -> float:
        if wait := at_most(CALM_SWEEP_SECONDS, deadlines.seconds_to_next()):
            return wait
        deadlines.enforce_deadlines()
        return SWEEP_SECONDS

    def _prune(self) -> float:
        deadlines.prune(self._stopping)
        web_processes.prune()
        return PRUNE_SECONDS

    def _discard_inputs(self) -> float:
        deadlines.discard_inputs(self._stopping)
        return DISCARD_SECONDS

    def _probe(self) -> float:
        if wait := at_most(PROBE_SECONDS, probes.seconds_to_next()):
            return wait
        return 0.0 if probing.probe_due() else SWEEP_SECONDS

    def _seal(self) -> float:
        seals.seal_daily()
        rests.prune()  # as seldom
        return SEAL_SECONDS

    def _fold(self) -> float:
        self._is_folded = True  # before anything is read: who ends from now on wakes this lane
        has_folded = self._folding.step()
        if has_folded and self._folding.is_under_way:
            return 0.0
        if has_folded or self._folding.is_under_way:
            self._is_folded = False
            return FOLD_SECONDS
        return CALM_FOLD_SECONDS

    def _beat(self) -> float:
        is_ours = leases.heartbeat(self.id)
        now, half = time.monotonic(), settings.WORKER_LEASE / 2
        if now - self._beaten_at > half:
            # The database was away, or this machine asleep, and the others could not renew their leases either: they
            # get the time to, before this worker takes them for dead.
            self._adopts_from = now + half
        self._beaten_at = now
        swallowed_counts.flush()
        if not is_ours:
            logger.error("this worker was declared stopped by somebody else; it ends")
            self.ask_to_stop()
        return float(settings.WORKER_LEASE) / 4

    def _finish(self) -> None:
        """Finish the step in hand, wait for paid calls within the grace, then let others adopt the rest. Polls and
        heartbeats go on meanwhile."""
        started = time.monotonic()
        self.execution.stop()
        self._stopping.set()
        logger.info("worker %s finishes what it has in hand", self.id)
        lanes = [lane for lane in self._running if lane.end is self._stopping]
        for lane in lanes:
            lane.wake()
        for lane in lanes:
            lane.join(max(0.0, started + STEP_SECONDS - time.monotonic()))
        self.execution.wait_paid(settings.WORKER_GRACE)
        self.seats.wait_idle(max(0.0, started + STEP_SECONDS - time.monotonic()))
        self.callbacks.finish(max(0.0, started + STEP_SECONDS - time.monotonic()))
        self._finished.set()
        for lane in self._running:
            lane.wake()
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
    finally:
        release_connection()
