"""Who sends what: any number of workers, fair over accounts and hosts, by the index."""

from collections import Counter

import pytest

from callbacks import deliveries
from callbacks.claims import HOSTS_LOOKED_AT, LOOKED_AT, Claims
from callbacks.dealing import ACCOUNT_SEATS, RECEIVER_SEATS
from common import sql
from tests.callbacks import steps
from tests.tasks.steps import at_once, captured, explained

pytestmark = pytest.mark.django_db


def hosts(claimed) -> Counter[str]:
    return Counter(due.host for due in claimed)


def test_one_receiver_gets_no_more_than_its_seats(owed):
    for _ in range(RECEIVER_SEATS + 5):
        owed("https://slow.example.com/")
    owed("https://quick.example.com/")
    assert hosts(steps.claimed()) == {"slow.example.com:443": RECEIVER_SEATS, "quick.example.com:443": 1}


def test_what_is_in_flight_at_a_receiver_counts_for_its_account(owed, account, other_account):
    for _ in range(3):
        owed("https://slow.example.com/")
    receiver = "slow.example.com:443"
    busy = {(account.pk, receiver): RECEIVER_SEATS - 2, (other_account.pk, receiver): RECEIVER_SEATS}
    assert len(steps.claimed(busy=busy)) == 2


def test_ports_are_receivers_of_their_own(owed):
    for _ in range(RECEIVER_SEATS + 1):
        owed("http://127.0.0.1:9001/")
    owed("http://127.0.0.1:9002/")
    assert hosts(steps.claimed())["127.0.0.1:9002"] == 1


@pytest.mark.parametrize("count", [ACCOUNT_SEATS * 2, LOOKED_AT + 100])
@pytest.mark.parametrize("url", ["http://127.0.0.1:2{:03}/", "https://h{:03}.example.com/", "https://one.example.com/"])
def test_no_account_takes_the_seats_of_another_however_much_it_has_due(pile, owed, other_key, count, url):
    pile(count, url)
    last = owed("https://quick.example.com/", of=other_key)
    claimed = steps.claimed(seats=96, retry_seats=48)
    assert last in {due.task_id for due in claimed}
    assert len(claimed) <= ACCOUNT_SEATS + 1


def test_an_account_with_very_many_hosts_is_looked_at_in_parts(pile, owed):
    pile(LOOKED_AT, "https://h{:03}.example.com/")
    owed("https://z.example.com/")
    by = Claims()
    parts = [{row.host for row in by._at_each_host()} for _ in range(LOOKED_AT // HOSTS_LOOKED_AT + 2)]
    assert [len(part) for part in parts] == [*[HOSTS_LOOKED_AT] * (LOOKED_AT // HOSTS_LOOKED_AT), 1, HOSTS_LOOKED_AT]
    assert "z.example.com:443" in set().union(*parts)


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


@pytest.fixture
def unbloated(db: None) -> None:
    """What rolled-back tests left behind makes PostgreSQL's indexes look large."""
    if sql.is_postgresql():
        sql.run("TRUNCATE callbacks_delivery CASCADE")


def moved(column: str, seconds: int) -> None:
    sql.run(f"UPDATE callbacks_delivery SET {column} = {sql.later('%s')}", [seconds])


PENDING = {
    "due later": lambda: moved("next_attempt_at", 3_600),
    "with a worker": lambda: moved("claimed_at", 0),
}


@pytest.mark.usefixtures("unbloated")
@pytest.mark.parametrize("state", PENDING)
def test_a_claim_costs_nothing_for_what_is_pending_and_not_due(pile, owed, state):
    owed("https://first.example.com/")
    PENDING[state]()
    with steps.work() as before:
        assert steps.claimed() == ()
    pile(1_000, "https://h{}.example.com/")
    PENDING[state]()
    sql.run("ANALYZE")
    with steps.work() as after:
        assert steps.claimed() == ()
    assert after.rows <= before.rows + 10


@pytest.mark.usefixtures("unbloated")
@pytest.mark.parametrize("url", ["https://one.example.com/", "https://h{:04}.example.com/"])
def test_a_claim_does_not_read_all_of_a_large_backlog(pile, url):
    pile(LOOKED_AT + 500, url)
    with steps.work() as before:
        steps.claimed()
    pile(1_500, url)
    with steps.work() as after:
        steps.claimed()
    assert after.rows <= before.rows * 1.1


@pytest.mark.usefixtures("unbloated")
def test_beside_a_large_backlog_an_account_of_which_nothing_is_due_costs_nothing(pile, owed, other_key):
    pile(1_000, "https://h{:04}.example.com/", of=other_key)
    moved("next_attempt_at", 3_600)
    pile(LOOKED_AT + 100, "https://one.example.com/")
    with steps.work() as beside:
        Claims()._at_each_host()
    sql.run("DELETE FROM callbacks_delivery WHERE account_id = %s", [other_key.account.id])
    sql.run("ANALYZE")
    with steps.work() as alone:
        Claims()._at_each_host()
    assert beside.rows <= alone.rows + 10


@pytest.mark.usefixtures("unbloated")
def test_each_part_of_a_claim_goes_by_its_index(pile):
    """On a small table only where PostgreSQL may do nothing else; it does not show what it repeats."""
    pile(LOOKED_AT + 1, "https://h{:03}.example.com/")
    with captured() as statements:
        steps.claimed()
    if sql.is_postgresql():
        for shortcut in ("seqscan", "bitmapscan", "sort"):
            sql.run(f"SET LOCAL enable_{shortcut} = off")
    oldest, by_host, update = statements
    plans = [explained(statement) for statement in (oldest, by_host, update)]
    assert all(index in plans[0] for index in ("delivery_due", "delivery_claimed")), plans[0]
    assert plans[1].count("delivery_hosts") >= (2 if sql.is_postgresql() else 3), plans[1]
    assert "delivery_accounts" in plans[1]
    for plan in plans:
        assert "Seq Scan on callbacks_delivery" not in plan, plan
        assert "SCAN callbacks_delivery\n" not in f"{plan}\n", plan
