"""A worker whose steps a test takes by hand, on the real database and against the real sandbox."""

import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import requests
from django.db import connection

from adapters.base import ErrorKind, UpstreamError
from common import sql
from sandbox.server import Sandbox
from tasks import leases
from tasks.claims import queue
from tasks.claims.starting import Claimed
from tasks.models import ENDED, Asset, Call, Task
from tests.rows import IssuedKey
from tests.tasks import steps
from tools.children import PATIENCE, wait_until
from worker.buy import jobs
from worker.buy.execution import Execution
from worker.buy.jobs import Job
from worker.follow.polling import Polling
from worker.heal import adoption, deadlines

FILM_PARAMS = {"duration": 2, "resolution": "720p", "aspect_ratio": "16:9"}


def picture(key: IssuedKey, prompt: str, **params: Any) -> str:
    """The id of a queued image task."""
    body = {"model": "aurora-image", "modality": "image", "params": {"prompt": prompt, **params}}
    return steps.submitted(key, body)


def film(key: IssuedKey, prompt: str, *, model: str = "comet-video", **params: Any) -> str:
    """The id of a queued video task of 2 seconds at 720p: 0.20 USD."""
    body = {"model": model, "modality": "video", "params": {"prompt": prompt, **FILM_PARAMS, **params}}
    return steps.submitted(key, body)


def task(task_id: str) -> Task:
    return Task.objects.get(id=task_id)


def call(task_id: str) -> Call:
    """The task's latest paid call."""
    found = Call.objects.filter(task_id=task_id).order_by("id").last()
    assert found is not None
    return found


def channels_of(task_id: str) -> list[str]:
    """Whom the task's calls went to, in order."""
    return list(Call.objects.filter(task_id=task_id).order_by("id").values_list("channel__name", flat=True))


def end_of(task_id: str) -> str:
    """The status, or the type of the error where there is one."""
    row = task(task_id)
    return row.error["type"] if row.error else row.status


def assets(task_id: str) -> list[Asset]:
    return list(Asset.objects.filter(task_id=task_id).order_by("position"))


def error(kind: ErrorKind, **fields: Any) -> UpstreamError:
    return UpstreamError(kind, "Provider Inc. says https://provider.example/secret", **fields)


def outage(sandbox: Sandbox, **plan: Any) -> None:
    """Answers of a gateway before the provider: `path`, `method`, `status`, `times`, `retry_after`, `cut`."""
    requests.post(f"{sandbox.url}/faults", json=plan, timeout=PATIENCE).raise_for_status()


def at_provider(task_id: str) -> str:
    """What the provider says of a film's job."""
    return str(_asked("GET", task_id).json()["status"])


def forget_at_provider(task_id: str) -> None:
    """Delete a film's ended job."""
    _asked("DELETE", task_id).raise_for_status()


def _asked(method: str, task_id: str) -> requests.Response:
    accepted = call(task_id)
    url = f"{accepted.target['base_url']}/contents/generations/tasks/{accepted.handle['id']}"
    return requests.request(method, url, headers={"Authorization": "Bearer any"}, timeout=PATIENCE)


def beside(job: Callable[[], object]) -> threading.Thread:
    """Run this on a thread that leaves no connection to the database behind."""

    def run() -> None:
        try:
            job()
        finally:
            connection.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


class WaitedFor:
    """A lock that tells when somebody has to wait for it."""

    def __init__(self) -> None:
        self.is_waited_for = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.is_waited_for.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def loaded(claimed: Claimed) -> Job:
    """A claimed task made ready to run; raises why it cannot be."""
    (found,) = jobs.load([claimed])
    if isinstance(found, Exception):
        raise found
    return found


def hurry() -> None:
    """Every wait is over: nothing of what a task, a poll or a channel waits for is left to the clock."""
    sql.run("UPDATE catalog_rest SET until = NULL, trial_until = NULL")
    sql.run("UPDATE catalog_channelhealth SET cooldown_until = NULL")
    sql.run("UPDATE tasks_task SET not_before = NULL WHERE status = 'queued'")
    sql.run(f"UPDATE tasks_call SET next_poll_at = {sql.now()} WHERE next_poll_at IS NOT NULL")


class Root:
    """The storage's folder, which can be taken away; a file in its place refuses every write, root's included."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def take_away(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.write_text("not a folder")

    def bring_back(self) -> None:
        self.path.unlink()


class Shift:
    """One registered worker."""

    def __init__(self) -> None:
        self.id = leases.register(["tasks"])
        self.execution = Execution(self.id)
        self.polling = Polling(self.id)

    def claim(self) -> tuple[Claimed, ...]:
        claim = queue.claim(self.id, seats=100)
        self.execution.take(claim.tasks)
        deadlines.end_stranded(claim.stranded)
        return claim.tasks

    def execute(self) -> int:
        """Claim what is ready and run it to the answer of its paid call; returns how many tasks that were."""
        claimed = self.claim()
        self.run(claimed)
        return len(claimed)

    def run(self, claimed: Sequence[Claimed]) -> None:
        self.execution.run(claimed, lambda pay: pay())
        mine, changed = {(each.id, each.attempt) for each in claimed}, self.execution._changed
        with changed:
            assert changed.wait_for(lambda: mine.isdisjoint(self.execution.in_hand), PATIENCE)

    def poll(self) -> None:
        """Ask for what is due, and wait until the answers are in the books."""
        self.polling.look()
        self.polling.tick()
        wait_until(lambda: not self.polling.schedule.is_anything_in_hand, what="the polls in hand")
        for seats in (*self.polling._polls.values(), *self.polling._copies.values()):
            assert seats.wait_idle(PATIENCE)
        self.polling.show_progress()

    def step(self) -> None:
        """Do all that can be done now; where no task can be started, as if every wait were over."""
        if not self.execute():
            hurry()
            self.execute()
        self.poll()

    def work(self, *task_ids: str) -> str:
        """Take steps until the tasks have ended; returns the first one's `end_of`."""
        live = Task.objects.filter(id__in=task_ids).exclude(status__in=ENDED)
        wait_until(lambda: not live.exists() or self.step(), what="the tasks' end")
        return end_of(task_ids[0])

    def sweep(self) -> None:
        """What a worker does once a second."""
        adoption.adopt(self.id)
        deadlines.enforce_deadlines()
