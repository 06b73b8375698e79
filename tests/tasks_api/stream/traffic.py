"""Tasks that come and end through the domain, one after another, beside transactions that roll back or take long."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from accounts.models import Account, ApiKey
from tasks import lifecycle
from tasks.intake import submission
from tasks.intake.drafts import Draft
from tasks.models import Task, TaskEvent
from tests.rows import IssuedKey
from tests.tasks import steps
from tests.tasks.events.writing import write_at_random
from tests.tasks_api.stream.sse import Member
from tools.children import PATIENCE, wait_until

STEP_SECONDS = 0.1


class Traffic:
    """Tasks are submitted, claimed and ended, at most so many a second, those of all keys in turn."""

    def __init__(self, keys: Sequence[IssuedKey], *, per_second: int, noise: Sequence[Task] = ()) -> None:
        Account.objects.update(max_queued=100_000, max_running=100_000, balance_micros=10**12)
        ApiKey.objects.update(max_queued=100_000, max_running=100_000)
        self.drafts = [steps.drafted(key) for key in keys]
        self.per_step = int(per_second * STEP_SECONDS)
        self.worker = steps.worker()
        self.noise = noise
        self.ended = 0
        self.is_over = threading.Event()

    @contextmanager
    def flowing(self) -> Iterator["Traffic"]:
        threads = [threading.Thread(target=self._run), threading.Thread(target=self._disturb)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in threads)

    def end_more(self, count: int) -> None:
        """Until so many more tasks have ended."""
        wanted = self.ended + count
        wait_until(lambda: self.ended >= wanted, what=f"{wanted} ended tasks")

    def _run(self) -> None:
        try:
            number, due = 0, time.monotonic()
            while not self.is_over.is_set():
                drafts = [self.drafts[(number + offset) % len(self.drafts)] for offset in range(self.per_step)]
                number += self.per_step
                self._step(drafts)
                due += STEP_SECONDS
                time.sleep(max(0.0, due - time.monotonic()))
        finally:
            connection.close()

    def _step(self, drafts: Sequence[Draft]) -> None:
        submission.submit([steps.another(draft) for draft in drafts])
        claimed = steps.claimed(self.worker)
        statuses = ("succeeded", "failed", "succeeded", "timeout")
        endings = [steps.ending(task, statuses[number % 4]) for number, task in enumerate(claimed)]
        self.ended += len(lifecycle.end(endings))

    def _disturb(self) -> None:
        seed = 0
        while self.noise and not self.is_over.is_set():
            seed += 1
            write_at_random(self.noise, transactions=1, seed=seed)
            time.sleep(0.05)


def stored(key_id: int) -> list[tuple[int, tuple[str, str]]]:
    """(cursor, (task id, status)) of every transition of the key."""
    rows = TaskEvent.objects.filter(key=key_id).order_by("id").values_list("id", "task_id", "status")
    return [(row[0], (row[1], row[2])) for row in rows]


def told(member: Member) -> list[tuple[int, tuple[str, str]]]:
    return [(frame.id, frame.seen) for frame in member.events]


def latencies(members: Sequence[Member]) -> list[float]:
    """Seconds from the writing of an event, just before its commit, to its reading; over live events."""
    written = {id_: at.timestamp() for id_, at in TaskEvent.objects.values_list("id", "at")}
    return sorted(frame.at - written[frame.id] for member in members for frame in member.events)
