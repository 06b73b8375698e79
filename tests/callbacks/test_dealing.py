"""How the seats of a worker are dealt: per account, then per host, then per receiver."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from callbacks.dealing import (
    ACCOUNT_SEATS,
    HOST_SEATS,
    KEPT_FOR_ACCOUNTS,
    KEPT_FOR_HOSTS,
    KEPT_FOR_RECEIVERS,
    RECEIVER_SEATS,
    DueDelivery,
    deal,
)

SEATS = 96
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def waiting(account_id: int, host: str, count: int = 1, *, age: int = 0, is_retry: bool = False) -> list[DueDelivery]:
    """So many of one receiver, one second younger each; a larger age is older."""
    return [
        DueDelivery(
            id=f"{account_id} {host} {age} {number}",
            account_id=account_id,
            host=host,
            is_retry=is_retry,
            due_at=BEGIN + timedelta(seconds=number - age),
        )
        for number in range(count)
    ]


def dealt(*rows: list[DueDelivery], seats: int = SEATS, retry_seats: int = SEATS, busy=None) -> list[DueDelivery]:
    known = {row.id: row for each in rows for row in each}
    return [known[found] for found in deal(known.values(), seats=seats, retry_seats=retry_seats, busy=busy or {})]


def of_accounts(rows: Iterable[DueDelivery]) -> dict[int, int]:
    return dict(Counter(row.account_id for row in rows))


def at_hosts(rows: Iterable[DueDelivery]) -> dict[str, int]:
    return dict(Counter(row.host for row in rows))


def ports(account_id: int, host: str, count: int) -> list[DueDelivery]:
    return [row for port in range(count) for row in waiting(account_id, f"{host}:{9_000 + port}", 10, age=100)]


def test_accounts_come_first_and_share_alike():
    rows = dealt(ports(1, "a.example", 9), waiting(2, "b.example:443", 3), waiting(3, "c.example:443", 3), seats=30)
    assert of_accounts(rows[:6]) == {1: 2, 2: 2, 3: 2}


def test_no_receiver_no_host_and_no_account_holds_more_than_its_seats():
    assert len(dealt(waiting(1, "a.example:443", 99))) == RECEIVER_SEATS
    assert len(dealt(ports(1, "a.example", 99))) == HOST_SEATS
    assert len(dealt(*(ports(1, f"{n}.example", 2) for n in range(99)))) == ACCOUNT_SEATS


def test_a_host_keeps_seats_for_its_receivers_that_have_none():
    few = dealt(ports(1, "a.example", 9))
    assert len(few) == HOST_SEATS - KEPT_FOR_RECEIVERS
    busy = Counter((row.account_id, row.host) for row in few)
    assert at_hosts(dealt(ports(1, "a.example", 11), busy=busy)) == {"a.example:9009": 1, "a.example:9010": 1}


def test_the_ports_of_a_host_share_what_it_may_hold_and_leave_other_hosts_theirs():
    busy = Counter((row.account_id, row.host) for row in dealt(ports(1, "a.example", 99)))
    assert sum(busy.values()) == ACCOUNT_SEATS - KEPT_FOR_HOSTS
    rows = dealt(ports(1, "a.example", 99), waiting(1, "b.example:443", 9), waiting(1, "c.example:443", 9), busy=busy)
    assert at_hosts(rows) == {"b.example:443": 1, "c.example:443": 1}


def test_the_hosts_of_an_account_take_turns():
    rows = dealt(ports(1, "a.example", 5), waiting(1, "b.example:443", 4))
    assert at_hosts(rows[:2]).keys() >= {"b.example:443"}
    assert at_hosts(rows[:8])["b.example:443"] == 4


def test_an_account_without_seats_finds_one_whatever_the_others_hold():
    greedy = [ports(account, "a.example", 9) for account in range(10)]
    held = dealt(*greedy)
    assert len(held) == SEATS - KEPT_FOR_ACCOUNTS
    busy = Counter((row.account_id, row.host) for row in held)
    free = SEATS - len(held)
    assert of_accounts(dealt(*greedy, waiting(99, "b.example:443", 3), seats=free, busy=busy)) == {99: 1}


def test_what_is_in_flight_counts_for_its_receiver_host_and_account():
    rows = waiting(1, "a.example:443", 9)
    assert len(dealt(rows, busy={(1, "a.example:443"): RECEIVER_SEATS - 2})) == 2
    assert len(dealt(rows, busy={(1, f"a.example:{n}"): 1 for n in range(HOST_SEATS)})) == 0
    assert len(dealt(rows, busy={(1, f"{n}.example:443"): 1 for n in range(ACCOUNT_SEATS)})) == 0
    assert len(dealt(rows, busy={(2, "a.example:443"): RECEIVER_SEATS})) == RECEIVER_SEATS


def test_the_oldest_comes_first_among_equals():
    rows = [waiting(1, f"{age}.example:443", age=age) for age in (10, 30, 20)]
    assert [row.host for row in dealt(*rows)] == ["30.example:443", "20.example:443", "10.example:443"]


def test_retries_take_only_their_seats_and_keep_no_first_attempt_waiting():
    retries = [waiting(1, f"{n}.example:443", age=99, is_retry=True) for n in range(20)]
    first = waiting(1, "new.example:443", 3)
    rows = dealt(*retries, first, retry_seats=4)
    assert Counter(row.is_retry for row in rows) == {True: 4, False: 3}
    assert dealt(*retries, first, seats=KEPT_FOR_ACCOUNTS, retry_seats=0) == first[:1]


def test_an_address_is_a_host_with_its_ports():
    rows = [row for port in range(99) for row in waiting(1, f"[2001:db8::1]:{9_000 + port}")]
    assert len(dealt(rows)) == HOST_SEATS
