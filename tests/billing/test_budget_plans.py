"""The statements about budgets keep to their indexes, with as many ended holds as a busy service has."""

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from pytest_django import DjangoDbBlocker

from billing import relayed_calls, seals
from common import sql
from tests.billing import relayed_steps
from tests.billing.budget_steps import limit
from tests.rows import IssuedKey, make_account, make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db
HOLDS, KEYS = 20_000, 20
LARGE = ("billing_hold", "billing_ledgerentry", "billing_budgetsum")
COLUMNS = "reference text, account bigint, key bigint, book text"
INSERT_HOLDS = """
INSERT INTO billing_hold (reference, account_id, key_id, amount_micros, state, closed_at)
SELECT r.reference, r.account, r.key, 5, 'settled', {now} FROM {rows} WHERE true
"""
INSERT_ENTRIES = """
INSERT INTO billing_ledgerentry (reference, kind, book, account_id, amount_micros)
SELECT r.reference, 'charge', 'customer', r.account, -5 FROM {rows} WHERE true
"""
INSERT_SUMS = """
INSERT INTO billing_budgetsum (holder, holder_id, period, starts_on, spent_micros)
SELECT 'key', r.key, 'day', {day}, 5 FROM {rows} WHERE true
"""


@pytest.fixture(scope="module")
def busy(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[IssuedKey]:
    """One of its keys. Made once; every test works on it in a transaction within this one."""
    whole = transaction.atomic()
    whole._from_testcase = True  # to be undone: none of our own transactions
    with django_db_blocker.unblock(), whole:
        yield make_busy()
        transaction.set_rollback(True)


def make_busy() -> IssuedKey:
    keys = [make_key(make_account(f"account {n}")) for n in range(KEYS)]
    relayed_steps.process()
    rows = [
        {"reference": f"call_{number}", "account": keys[number % KEYS].account.pk, "key": keys[number % KEYS].id}
        for number in range(HOLDS)
    ]
    sql.run(INSERT_HOLDS.format(now=sql.now(), rows=sql.rows(COLUMNS)), [sql.pack(rows)])
    sql.run(INSERT_ENTRIES.format(rows=sql.rows(COLUMNS)), [sql.pack(rows)])
    day = "DATE '2020-01-01' + r.book::integer" if sql.is_postgresql() else "date('2020-01-01', r.book || ' days')"
    days = [{"key": key.id, "book": str(n)} for key in keys for n in range(500)]
    sql.run(INSERT_SUMS.format(day=day, rows=sql.rows(COLUMNS)), [sql.pack(days)])
    connection.check_constraints()
    sql.run("ANALYZE")
    return keys[7]


def is_full_scan(line: str) -> bool:
    """Whether a step of a plan reads a large table from end to end."""
    if sql.is_postgresql():
        return any(f"Seq Scan on {table}" in line for table in LARGE)
    words = line.split()
    return words[:1] == ["SCAN"] and "INDEX" not in words and words[1] in (*LARGE, "h", "e")


def test_what_is_reserved_and_ended_finds_its_sums_by_index(busy):
    limit(busy.account, day="1", month="1")
    limit(busy.record, day="1", month="1")
    call = relayed_steps.new_call(busy)
    with steps.captured() as statements:
        relayed_calls.reserve([call])
        relayed_calls.end([relayed_steps.ending(call)])
    lines = [line for found in statements for line in steps.explained(found).splitlines()]
    assert [line for line in lines if is_full_scan(line)] == []


def test_a_budget_is_set_by_the_entries_of_its_account_alone(busy):
    seals.seal()
    with steps.captured() as statements:
        limit(busy.record, day="1", month="1")
    (counting,) = (found for found in statements if "billing_ledgerseal" in found)
    assert "entry_statement" in steps.explained(counting)
