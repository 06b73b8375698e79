"""Two worker processes on one database: strict limits, and nothing done twice."""

import json
import threading
from collections import Counter

import pytest
from django.db import connection

from accounts.models import ApiKey
from common import sql
from tasks.models import Call, Task, TaskEvent
from tests.faults.scenes import ended
from tests.worker.driving import picture
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CHANNEL_LIMIT, KEY_LIMIT = 5, 3


@pytest.fixture
def peaks(transactional_db):
    """The most tasks seen running at once, by channel and by key, sampled all the time."""
    seen = {"channel": 0, "key": 0}
    is_over = threading.Event()

    def sample():
        while not is_over.is_set():
            rows = list(Task.objects.filter(status="running").values_list("channel_id", "key_id"))
            for index, name in enumerate(seen):
                column = [row[index] for row in rows]
                seen[name] = max([seen[name], *(column.count(value) for value in set(column))])
        connection.close()

    sampler = threading.Thread(target=sample)
    sampler.start()
    yield seen
    is_over.set()
    sampler.join()


def test_limits_are_strict_and_sixty_tasks_run_once_each(start_worker, key, other_key, sandbox, image_channel, peaks):
    image_channel.max_running = CHANNEL_LIMIT
    image_channel.save()
    ApiKey.objects.update(max_running=KEY_LIMIT)
    start_worker()
    start_worker()
    tasks = [picture(owner, f"{owner.id} {n} [slow=0.2]") for n in range(30) for owner in (key, other_key)]
    assert set(ended(*tasks, timeout=40)) == {"succeeded"}
    assert peaks == {"channel": CHANNEL_LIMIT, "key": KEY_LIMIT}
    assert sandbox.audit()["jobs"] == 60
    assert TaskEvent.objects.filter(status="running").count() == 60
    assert Call.objects.values("worker").distinct().count() == 2


def test_every_line_about_a_task_names_it_and_its_attempt(start_worker, key, crew):
    start_worker()
    ended(picture(key, "a fox [moderated]"), picture(key, "a hen [reset]"), picture(key, "an owl [rate-limited=1]"))
    lines = [json.loads(line) for line in crew.logs().splitlines()]
    about = [line for line in lines if line["logger"] in ("worker.purchase", "worker.refusals", "worker.delivery")]
    assert len(about) >= 3
    assert all(line["task_id"].startswith("task_") and line["attempt"] >= 1 for line in about)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps closed files open for a while")
def test_a_crowd_at_slow_providers_holds_few_connections_and_no_transaction(start_worker, key, sandbox):
    ApiKey.objects.update(max_running=50)
    start_worker()
    for number in range(30):
        picture(key, f"fox {number} [slow=5]")
    wait_until(lambda: sandbox.audit()["jobs"] == 30, what="thirty paid calls")
    # A heartbeat may be caught in the act; what the calls hold is there every time.
    held = Counter(state for state, _ in sessions())
    for _ in range(5):
        held &= Counter(state for state, _ in sessions())
    assert held["idle in transaction"] == 0
    assert held["active"] <= 3
    assert held.total() < 30
    ended(*Task.objects.values_list("id", flat=True))


def sessions():
    """State and last statement of the worker's connections."""
    return sql.fetch(
        "SELECT state, query FROM pg_stat_activity WHERE application_name = 'worker' AND datname = current_database()"
    )
