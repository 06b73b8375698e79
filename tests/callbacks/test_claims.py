"""Who sends what: any number of workers, fair over hosts, by the index."""

from collections import Counter

import pytest
from django.db import connection

from callbacks import claims, deliveries
from callbacks.claims import HOST_SEATS
from common import sql
from tests.callbacks import steps
from tests.tasks.steps import at_once

pytestmark = pytest.mark.django_db


def hosts(claimed) -> Counter[str]:
    return Counter(due.host for due in claimed)


def test_one_host_gets_no_more_than_its_seats(owed):
    for _ in range(HOST_SEATS + 5):
        owed("https://slow.example.com/")
    owed("https://quick.example.com/")
    assert hosts(steps.claimed()) == {"slow.example.com:443": HOST_SEATS, "quick.example.com:443": 1}


def test_what_is_in_flight_at_a_host_counts(owed):
    for _ in range(3):
        owed("https://slow.example.com/")
    assert len(steps.claimed(busy={"slow.example.com:443": HOST_SEATS - 2})) == 2


def test_ports_are_hosts_of_their_own(owed):
    for _ in range(HOST_SEATS + 1):
        owed("http://127.0.0.1:9001/")
    owed("http://127.0.0.1:9002/")
    assert hosts(steps.claimed())["127.0.0.1:9002"] == 1


def test_the_oldest_come_first_whatever_their_host(owed):
    tasks = [owed(f"https://h{number}.example.com/") for number in (3, 1, 2)]
    for age, task_id in zip((10, 30, 20), tasks, strict=True):
        steps.let_pass(task_id, age)
    assert [due.task_id for due in steps.claimed(seats=1)] == [tasks[1]]
    assert [due.task_id for due in steps.claimed(seats=1)] == [tasks[2]]


def test_retries_take_only_the_seats_that_are_theirs(owed):
    retried = owed("https://dead.example.com/")
    steps.attempted(500)
    steps.let_pass(retried, 10)
    fresh = owed("https://quick.example.com/")
    assert [due.task_id for due in steps.claimed(retry_seats=0)] == [fresh]
    assert [due.task_id for due in steps.claimed(retry_seats=1)] == [retried]


@pytest.mark.django_db(transaction=True)
def test_many_workers_claim_each_delivery_once(owed):
    expected = {owed(f"https://h{number % 20}.example.com/") for number in range(60)}

    def work() -> list[str]:
        found: list[str] = []
        while batch := steps.claimed(seats=3):
            found += [due.task_id for due in batch]
        return found

    got = [task_id for found in at_once([work] * 6) for task_id in found]
    assert sorted(got) == sorted(expected)


@pytest.mark.django_db(transaction=True)
def test_many_records_of_one_attempt_leave_one(owed):
    task_id = owed()
    due = steps.claimed_one()
    recorded = at_once([lambda: deliveries.record(due, steps.outcome(500))] * 6)
    assert recorded.count(True) == 1
    assert steps.state(task_id) == ("pending", 1)


def test_a_pile_at_one_host_is_not_read_through(owed):
    """The plan goes from host to host by the index; on a small table only where PostgreSQL may do nothing else."""
    owed()
    statement = claims.OLDEST.format(waiting="count(*)", free=claims._free())
    if sql.is_postgresql():
        for shortcut in ("seqscan", "bitmapscan", "sort"):
            sql.run(f"SET LOCAL enable_{shortcut} = off")
    with connection.cursor() as cursor:
        cursor.execute(f"{'EXPLAIN' if sql.is_postgresql() else 'EXPLAIN QUERY PLAN'} {statement}", [HOST_SEATS])
        plan = "\n".join(str(row[-1]) for row in cursor.fetchall())
    assert plan.count("delivery_due") >= 2
    assert "Seq Scan" not in plan
    assert "SCAN callbacks_delivery\n" not in f"{plan}\n"
