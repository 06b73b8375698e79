"""A worker makes do with few connections to PostgreSQL, and nothing of it waits for ever for one."""

import psycopg
import pytest
from django.db import connection

from accounts.models import ApiKey
from common import sql
from tasks.locks import CLAIM_LOCK
from tasks.models import Call, Worker
from tests.account_lines import held_account
from tests.databases import OF_THIS_DATABASE, database_url
from tests.faults.scenes import ended, waiting_for_account
from tests.tasks import steps
from tests.worker.driving import film, picture
from tools.children import wait_until
from worker.loop import CONNECTIONS

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no pool"),
]
CALLS = 40
LONG_AGO = "2020-01-01T00:00:00Z"


def sessions(*, waiting: bool = False) -> int:
    """The worker's, or those that wait for locks. Its pool closes none that it has opened within minutes, so all are
    the most that there were."""
    which = "AND wait_event_type = 'Lock'" if waiting else ""
    statement = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker' AND datname = current_database()"
    )
    return int(sql.value(f"{statement} {which}"))


def waiting_for(lock: str) -> int:
    """How many sessions wait for locks of this kind."""
    return int(sql.value(f"SELECT count(*) FROM pg_locks WHERE NOT granted AND {lock} AND {OF_THIS_DATABASE}"))


def test_all_lanes_and_answers_that_come_at_once_take_four(start_worker, key, sandbox):
    """One for wake-ups, one for heartbeats, two for lanes and groups."""
    ApiKey.objects.update(max_running=CALLS)
    tasks = [picture(key, f"fox {number} [held]") for number in range(CALLS)]
    start_worker("--concurrency", str(CALLS))
    wait_until(lambda: sandbox.audit()["jobs"] == CALLS, what="the paid calls")
    sandbox.release()
    assert set(ended(*tasks)) == {"succeeded"}
    assert sessions() <= 4


def test_a_crowd_that_waits_for_a_lock_holds_up_no_heartbeat_no_lane_and_no_answer(start_worker, key, other_key):
    crowd = CONNECTIONS["crowd"]
    refused = [picture(key, f"fox {number} [moderated]") for number in range(3 * crowd)]
    with held_account(key.record.account_id):
        start_worker("--concurrency", str(4 * crowd), WORKER_LEASE="4")
        wait_until(lambda: waiting_for_account() == crowd, what="the crowd")
        assert ended(picture(other_key, "a hen")) == ["succeeded"]
        before = Worker.objects.get().heartbeat_at
        wait_until(lambda: Worker.objects.get().heartbeat_at > before, what="a heartbeat")
        assert waiting_for_account() == crowd
    assert set(ended(*refused)) == {"TASK_CONTENT_REJECTED"}
    assert sessions() <= sum(CONNECTIONS.values()) + 1


def test_a_worker_whose_lanes_all_wait_for_locks_ends_and_leaves_its_lease(start_worker, key, other_key, sandbox):
    picture(key, "a fox [held]")
    worker = start_worker(WORKER_GRACE="0")
    wait_until(lambda: sandbox.audit()["jobs"] == 1, what="the paid call")
    with held_account(key.record.account_id), psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [CLAIM_LOCK])
        picture(other_key, "a hen")
        sandbox.release()
        wait_until(lambda: sessions(waiting=True) == CONNECTIONS["lanes"], what="a claim and an end that wait")
        worker.terminate()
        worker.wait()
    assert Worker.objects.get().stopped_at is not None


def test_all_kinds_of_work_at_once_come_to_their_end(start_worker, key, other_key):
    """More than there are connections of each kind: pictures, films, refusals."""
    ApiKey.objects.update(max_running=100)
    kinds = [(picture, "a fox"), (picture, "a hen [moderated]"), (picture, "an owl [rate-limited=1]"), (film, "a film")]
    tasks = [
        make(owner, f"{owner.id} {number} {words}")
        for owner in (key, other_key)
        for number in range(5)
        for make, words in kinds
    ]
    start_worker("--concurrency", "100")
    ended(*tasks)
    assert steps.breaches() == []
    assert sessions() <= sum(CONNECTIONS.values()) + 1


def test_claims_that_wait_for_another_worker_hold_up_no_answer(start_worker, key, sandbox):
    """Where its machine is gone the server learns it late. Two lanes want its lock: one adopts, and one claims."""
    paid, adopted = picture(key, "a fox [held]"), film(key, "a film [held]")
    start_worker()
    wait_until(lambda: Call.objects.filter(task_id=adopted, state="accepted"), what="the film")
    wait_until(lambda: sandbox.audit()["jobs"] == 2, what="the paid calls")
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])
        Worker.objects.create(id="gone", pid=1, heartbeat_at=LONG_AGO, started_at=LONG_AGO)
        Call.objects.filter(task_id=adopted).update(worker_id="gone")
        wait_until(lambda: waiting_for("locktype = 'advisory'"), what="the adoption")
        picture(key, "waits")
        overdue = picture(key, "waits for too long")
        steps.age(overdue, "deadline_at", -1)
        assert ended(overdue) == ["TASK_TIMEOUT"]
        sandbox.release()
        assert ended(paid) == ["succeeded"]
