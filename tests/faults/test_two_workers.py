"""Two worker processes on one database: strict limits, and nothing done twice."""

import json
from collections import Counter, defaultdict

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


def peak(column):
    """The most tasks that ran at once with one value of this column, by the order of the events."""
    running, most = defaultdict(set), 0
    for task_id, status, value in TaskEvent.objects.order_by("id").values_list("task_id", "status", column):
        change = running[value].add if status == "running" else running[value].discard
        change(task_id)
        most = max(most, len(running[value]))
    return most


def test_limits_are_strict_and_sixty_tasks_run_once_each(start_worker, key, other_key, sandbox, image_channel):
    image_channel.max_running = CHANNEL_LIMIT
    image_channel.save()
    ApiKey.objects.update(max_running=KEY_LIMIT)
    for _ in range(2):
        start_worker("--concurrency", str(CHANNEL_LIMIT - 1))  # so that it takes both to reach the limit
    tasks = [picture(owner, f"{owner.id} {n} [held]") for n in range(30) for owner in (key, other_key)]
    wait_until(lambda: sandbox.audit()["jobs"] >= CHANNEL_LIMIT, what="as many as there may be")
    sandbox.release()
    assert set(ended(*tasks)) == {"succeeded"}
    assert (peak("task__channel_id"), peak("key_id")) == (CHANNEL_LIMIT, KEY_LIMIT)
    assert sandbox.audit()["jobs"] == 60
    assert TaskEvent.objects.filter(status="running").count() == 60
    assert Call.objects.values("worker").distinct().count() == 2


def test_every_line_about_a_task_names_it_and_its_attempt(start_worker, key, crew):
    worker = start_worker()
    ended(picture(key, "a fox [moderated]"), picture(key, "a hen [reset]"), picture(key, "an owl [rate-limited=1]"))
    worker.terminate()
    worker.wait()
    lines = [json.loads(line) for line in crew.logs().splitlines()]
    about = [
        line
        for line in lines
        if line["logger"] in ("worker.buy.purchase", "worker.buy.failed_calls", "worker.deliver.delivery")
    ]
    assert len(about) >= 3
    assert all(line["task_id"].startswith("task_") and line["attempt"] >= 1 for line in about)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps closed files open for a while")
def test_a_crowd_at_slow_providers_holds_few_connections_and_no_transaction(start_worker, key, sandbox):
    ApiKey.objects.update(max_running=50)
    start_worker()
    for number in range(30):
        picture(key, f"fox {number} [held]")
    wait_until(lambda: sandbox.audit()["jobs"] == 30, what="thirty paid calls")
    # A heartbeat may be caught in the act; what the calls hold is there every time.
    wait_until(
        lambda: not (now := Counter(sessions()))["idle in transaction"] and now["active"] <= 3 and now.total() < 30,
        what="few connections and no transaction",
    )
    sandbox.release()
    ended(*Task.objects.values_list("id", flat=True))


def sessions():
    """The states of the worker's connections."""
    statement = "SELECT state FROM pg_stat_activity WHERE application_name = 'worker' AND datname = current_database()"
    return [state for (state,) in sql.fetch(statement)]
