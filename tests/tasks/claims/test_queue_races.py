"""Claims at the same time: every limit is strict over any number of workers, and nobody runs a task twice."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import psycopg
import pytest
from django.db import connection, transaction

from accounts.models import Account, ApiKey
from catalog import pausing
from catalog.models import Channel, Route
from common import sql
from tasks import cancellation, lifecycle
from tasks.claims import queue
from tasks.claims.queue import Return
from tasks.claims.starting import Claimed
from tasks.intake import submission
from tasks.locks import CLAIM_LOCK, serialise_claims
from tasks.models import LIVE, ServiceState, Task, TaskEvent
from tests.databases import OF_THIS_DATABASE, database_url
from tests.rows import make_account, make_channel, make_key, make_route
from tests.tasks import steps
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS, LIMIT = 8, 3
WAITING = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory' AND {OF_THIS_DATABASE}"


def running(column: str) -> Counter:
    """How many tasks run, by a column."""
    return Counter(
        dict(sql.fetch(f"SELECT {column}, count(*) FROM tasks_task WHERE status = 'running' GROUP BY {column}"))
    )


def started_at_once(workers: list[str], *others: Callable[[], object], seats: int = 100) -> list[Claimed]:
    """What so many claims bring that run at the same time, beside what others do."""
    claims = steps.at_once([*(partial(steps.claimed, worker, seats=seats) for worker in workers), *others])
    return [task for tasks in claims[: len(workers)] for task in tasks]


@pytest.fixture
def crowd(plan, image_model):
    """60 queued tasks of two accounts with two keys each; every task may take two channels."""
    spare = make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2")
    keys = [
        make_key(account, name, max_running=50)
        for account in (make_account("one"), make_account("two"))
        for name in ("a", "b")
    ]
    return [task_id for key in keys for task_id in steps.submitted_many(key, 15)]


def test_who_looks_first_waits_for_nobody_where_nothing_may_start(crowd):
    ServiceState.objects.update(max_running=0)
    look = partial(queue.claim, steps.worker(), seats=100, looks_first=True)
    with ThreadPoolExecutor(1) as threads, transaction.atomic():
        serialise_claims()  # as another worker that is claiming, or on SQLite anybody who writes
        assert threads.submit(steps.at_once, [look]).result(PATIENCE)[0].tasks == ()
    ServiceState.objects.update(max_running=LIMIT)
    assert len(look().tasks) == LIMIT


def test_looks_that_come_first_pass_no_limit(crowd):
    ServiceState.objects.update(max_running=LIMIT)
    claims = steps.at_once([partial(queue.claim, steps.worker(), seats=100, looks_first=True) for _ in range(WORKERS)])
    assert sum(len(claim.tasks) for claim in claims) == LIMIT == running("1")[1]


@pytest.mark.parametrize(
    ("column", "groups", "narrow"),
    [
        ("key_id", 4, lambda: ApiKey.objects.update(max_running=LIMIT)),
        ("account_id", 2, lambda: Account.objects.update(max_running=LIMIT)),
        ("channel_id", 2, lambda: Channel.objects.update(max_running=LIMIT)),
        ("1", 1, lambda: ServiceState.objects.update(max_running=LIMIT)),
    ],
    ids=["key", "account", "channel", "total"],
)
def test_a_limit_is_filled_and_never_passed_by_eight_workers(crowd, column, groups, narrow: Callable[[], object]):
    narrow()
    workers = [steps.worker() for _ in range(WORKERS)]
    for _ in range(3):
        first, *others = started_at_once(workers)
        assert sorted(running(column).values()) == [LIMIT] * groups
        others += started_at_once(workers, partial(steps.end, first))
        assert max(running(column).values()) <= LIMIT
        lifecycle.end([steps.ending(task, "succeeded") for task in others])
    assert not running(column)
    assert steps.breaches() == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer: a claim is whole or not begun")
def test_claims_that_wait_for_their_turn_start_nothing_on_what_is_paused_meanwhile(crowd, image_channel, image_model):
    """They have read the catalog before, and the rows that count after."""
    workers = [steps.worker() for _ in range(2)]
    for paused in (image_model, image_channel):
        with psycopg.connect(database_url()) as other, ThreadPoolExecutor(2) as threads:
            other.execute("SELECT pg_advisory_lock(%s)", [CLAIM_LOCK])
            claims = [threads.submit(steps.at_once, [partial(steps.claimed, worker)]) for worker in workers]
            wait_until(lambda: sql.value(WAITING) == 2)
            pausing.pause(paused)
            other.execute("SELECT pg_advisory_unlock(%s)", [CLAIM_LOCK])
            started = [task for claim in claims for tasks in claim.result(PATIENCE) for task in tasks]
        routes = Route.objects.filter(pk__in={task.route_id for task in started})
        assert set(routes.values_list("channel__name", flat=True)) == (set() if paused == image_model else {"spare"})
        pausing.resume(paused)


def test_every_task_is_started_once(crowd):
    started = Counter(task.id for task in started_at_once([steps.worker() for _ in range(WORKERS)], seats=10))
    assert started == Counter(crowd)
    assert TaskEvent.objects.filter(status="running").count() == len(crowd)


def test_submissions_claims_ends_returns_and_cancellations_at_once(image_model):
    account = make_account("busy", usd="3", max_queued=30, max_running=6)
    keys = [make_key(account, name, max_running=4) for name in ("a", "b")]
    lists = [
        [[steps.drafted(key, callback_url="https://hooks.example.com/") for _ in range(4)] for _ in range(6)]
        for key in (*keys, *keys)
    ]
    finished, submitted = threading.Event(), threading.Semaphore(0)

    def submit_lists(own: list) -> None:
        try:
            for drafts in own:
                submission.submit(drafts)
        finally:
            submitted.release()

    def work(worker_id: str) -> None:
        while not finished.is_set():
            tasks = steps.claimed(worker_id, seats=3)
            assert max(running("key_id").values(), default=0) <= 4
            assert max(running("account_id").values(), default=0) <= 6
            for number, task in enumerate(tasks):
                if number == 1 and task.requeues < 2:
                    queue.requeue([Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id)])
                steps.end(task, "succeeded" if number else "failed")
                assert not steps.end(task, "timeout")

    def cancel_some() -> None:
        while not finished.is_set():
            for key_id, task_id in Task.objects.filter(status="queued").values_list("key_id", "id")[:3]:
                with suppress(cancellation.NotCancelable):
                    cancellation.cancel(key_id, task_id)

    def check_the_books() -> None:
        while not finished.is_set():
            assert steps.breaches() == []

    def watch() -> None:
        try:
            for _ in lists:
                assert submitted.acquire(timeout=PATIENCE)
            wait_until(lambda: not Task.objects.filter(status__in=LIVE).exists(), what="the end of all tasks")
        finally:
            finished.set()

    working = [partial(work, steps.worker()) for _ in range(3)]
    steps.at_once([*(partial(submit_lists, own) for own in lists), *working, cancel_some, check_the_books, watch])
    assert not Task.objects.filter(status__in=LIVE).exists()
    assert steps.breaches() == []
