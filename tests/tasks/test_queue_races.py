"""Claims at the same time: every limit is strict over any number of workers, and nobody runs a task twice."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from django.db import connection

from accounts.models import Account, ApiKey
from catalog.models import Channel
from common import sql
from tasks import cancellation, lifecycle, queue, submission
from tasks.models import ServiceState, Task, TaskEvent
from tasks.queue import Return
from tests.rows import make_account, make_channel, make_key, make_route
from tests.tasks import steps

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS, LIMIT = 8, 3


class Sampler:
    """The largest number of running tasks per value of a column, watched from a thread of its own."""

    def __init__(self, column: str) -> None:
        self.statement = f"SELECT {column}, count(*) FROM tasks_task WHERE status = 'running' GROUP BY {column}"
        self.peak = self.samples = 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Sampler":
        self.thread.start()
        return self

    def __exit__(self, *caught: object) -> None:
        self.done.set()
        self.thread.join()

    def _watch(self) -> None:
        while not self.done.is_set():
            self.peak = max([self.peak, *(count for _, count in sql.fetch(self.statement))])
            self.samples += 1
        connection.close()


def run_everything(worker_id: str, *, seats: int = 4, deadline_seconds: float = 60) -> int:
    """Claim and end until no task is live; how many tasks this worker ran."""
    ran = 0
    give_up_at = time.monotonic() + deadline_seconds
    while time.monotonic() < give_up_at:
        tasks = steps.claimed(worker_id, seats=seats)
        ran += len(tasks)
        lifecycle.end([steps.ending(task, "succeeded") for task in tasks])
        if not tasks and not sql.fetch("SELECT 1 FROM tasks_task WHERE status IN ('queued', 'running') LIMIT 1"):
            return ran
    raise TimeoutError("tasks are still live")


@pytest.fixture
def crowd(plan, image_model):
    """120 queued tasks of two accounts with two keys each; every task may take two channels."""
    spare = make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2")
    keys = [
        make_key(account, name, max_running=50)
        for account in (make_account("one"), make_account("two"))
        for name in ("a", "b")
    ]
    return [task_id for key in keys for task_id in steps.submitted_many(key, 30)]


@pytest.mark.parametrize(
    ("column", "narrow"),
    [
        ("key_id", lambda: ApiKey.objects.update(max_running=LIMIT)),
        ("account_id", lambda: Account.objects.update(max_running=LIMIT)),
        ("channel_id", lambda: Channel.objects.update(max_running=LIMIT)),
        ("1", lambda: ServiceState.objects.update(max_running=LIMIT)),
    ],
    ids=["key", "account", "channel", "total"],
)
def test_a_limit_is_never_passed_by_eight_workers(crowd, column: str, narrow: Callable[[], object]):
    narrow()
    with Sampler(column) as sampler:
        ran = steps.at_once([partial(run_everything, steps.worker()) for _ in range(WORKERS)])
    assert sampler.samples > 10
    assert 1 <= sampler.peak <= LIMIT
    assert sum(ran) == len(crowd) == Task.objects.filter(status="succeeded", attempt=1).count()
    assert steps.breaches() == []


def test_a_limit_is_filled_and_not_passed_by_claims_at_once(crowd):
    ApiKey.objects.update(max_running=LIMIT)
    claims = steps.at_once([partial(steps.claimed, steps.worker()) for _ in range(WORKERS)])
    started = [task.id for tasks in claims for task in tasks]
    assert len(started) == len(set(started)) == 4 * LIMIT
    assert Counter(Task.objects.filter(status="running").values_list("key_id", flat=True)) == {
        key.pk: LIMIT for key in ApiKey.objects.all()
    }


def test_every_task_is_started_once(crowd):
    claims = steps.at_once([partial(steps.claimed, steps.worker(), seats=50) for _ in range(WORKERS)])
    started = Counter(task.id for tasks in claims for task in tasks)
    assert set(started.values()) == {1}
    assert TaskEvent.objects.filter(status="running").count() == len(started)


def test_submissions_claims_ends_returns_and_cancellations_at_once(image_model):
    account = make_account("busy", usd="3", max_queued=30, max_running=6)
    keys = [make_key(account, name, max_running=4) for name in ("a", "b")]
    lists = [
        [[steps.drafted(key, callback_url="https://hooks.example.com/") for _ in range(4)] for _ in range(6)]
        for key in (*keys, *keys)
    ]
    finished = threading.Event()

    def submit_lists(own: list) -> None:
        for drafts in own:
            submission.submit(drafts)

    def work(worker_id: str) -> None:
        while not finished.is_set():
            for number, task in enumerate(steps.claimed(worker_id, seats=3)):
                if number == 1 and task.requeues < 2:
                    queue.requeue([Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id)])
                steps.end(task, "succeeded" if number else "failed")
                assert not steps.end(task, "timeout")

    def cancel_some() -> None:
        while not finished.is_set():
            for key_id, task_id in Task.objects.filter(status="queued").values_list("key_id", "id")[:3]:
                try:
                    cancellation.cancel(key_id, task_id)
                except cancellation.NotCancelable:
                    continue

    def check_the_books() -> None:
        while not finished.is_set():
            assert steps.breaches() == []

    def watch() -> None:
        give_up_at = time.monotonic() + 60
        try:
            while time.monotonic() < give_up_at and (
                sum(thread.is_alive() for thread in submitting) or Task.objects.filter(status__in=("queued", "running"))
            ):
                time.sleep(0.01)
        finally:
            finished.set()

    submitting = [threading.Thread(target=closing(submit_lists, own)) for own in lists]
    for thread in submitting:
        thread.start()
    with Sampler("key_id") as of_key, Sampler("account_id") as of_account:
        steps.at_once([*(partial(work, steps.worker()) for _ in range(3)), cancel_some, check_the_books, watch])
    for thread in submitting:
        thread.join()
    assert of_key.peak <= 4
    assert of_account.peak <= 6
    assert not Task.objects.filter(status__in=("queued", "running")).exists()
    assert steps.breaches() == []


def closing(job: Callable[..., None], *arguments: object) -> Callable[[], None]:
    """The job as the target of a thread, which leaves no connection behind."""

    def run() -> None:
        try:
            job(*arguments)
        finally:
            connection.close()

    return run
