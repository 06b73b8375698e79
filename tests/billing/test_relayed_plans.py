"""The statements about relayed calls keep to their indexes, with as many ended calls as a busy service has."""

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoDbBlocker

from billing import ledger, lost_calls, relay_usage, relayed_calls
from billing.ledger import Reservation
from billing.models import RelayedCall
from billing.relayed_calls import SeenUsage
from common import ids, sql
from tasks_api import metrics, running_totals
from tests.billing import relayed_steps
from tests.billing.closing import Closing, close_holds
from tests.rows import IssuedKey, make_account, make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db
CALLS, OPEN, KEYS, MODELS = 20_000, 100, 50, 40
LARGE = ("billing_relayedcall", "billing_relayusage")
COLUMNS = "id text, key bigint, account bigint, model text, process text, is_open bool, is_odd bool"
INSERT_CALLS = """
INSERT INTO billing_relayedcall (id, account_id, key_id, group_id, process, model, dialect, is_stream, state,
    ended_at, actual_micros, estimated_micros, price, is_loss, is_estimated)
SELECT r.id, r.account, r.key, 1, r.process, r.model, 'chat', r.is_odd,
    CASE WHEN r.is_open THEN 'open' WHEN r.is_odd THEN 'released' ELSE 'settled' END,
    CASE WHEN r.is_open THEN NULL ELSE {now} END, CASE WHEN r.is_open OR r.is_odd THEN NULL ELSE 5 END, 5, '{{}}',
    r.is_odd, r.is_odd
FROM {rows} WHERE true
"""
INSERT_HOLDS = """
INSERT INTO billing_hold (reference, account_id, amount_micros, state, closed_at)
SELECT id, account_id, 5, 'settled', {now} FROM billing_relayedcall
"""
INSERT_USAGE = """
INSERT INTO billing_relayusage (key_id, day, model, calls, cost_micros)
SELECT k.id, {day}, r.id, 1, 5 FROM accounts_apikey k CROSS JOIN {rows}
"""


@pytest.fixture(scope="module")
def busy(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[list[IssuedKey]]:
    """Its keys. Made once; every test works on it in a transaction within this one."""
    whole = transaction.atomic()
    whole._from_testcase = True  # to be undone: none of our own transactions
    with django_db_blocker.unblock(), whole:
        yield make_busy()
        transaction.set_rollback(True)


def make_busy() -> list[IssuedKey]:
    keys = [make_key(make_account(f"account {n}")) for n in range(KEYS)]
    relayed_steps.process()
    rows = []
    for number in range(CALLS):
        key = keys[number % KEYS]
        row = {
            "id": relayed_calls.PREFIX + ids.encode(number << 40),
            "key": key.id,
            "account": key.account.pk,
            "model": f"model-{number % MODELS}",
            "process": relayed_steps.PROCESS,
            "is_open": number % (CALLS // OPEN) == 0,
            "is_odd": number % 2_000 == 1,
        }
        rows.append(row)
    sql.run(INSERT_CALLS.format(now=sql.now(), rows=sql.rows(COLUMNS)), [sql.pack(rows)])
    sql.run(INSERT_HOLDS.format(now=sql.now()))
    day = "DATE '2026-01-01'" if sql.is_postgresql() else "'2026-01-01'"
    models = sql.ids(f"model-{number}" for number in range(400))
    sql.run(INSERT_USAGE.format(day=day, rows=sql.rows("id text")), [models])
    connection.check_constraints()  # once, and not again at the end of every test
    sql.run("ANALYZE")
    return keys


def is_full_scan(line: str) -> bool:
    """Whether a step of a plan reads calls or usage from end to end."""
    if sql.is_postgresql():
        return any(f"Seq Scan on {table}" in line for table in LARGE)
    words = line.split()
    return words[:1] == ["SCAN"] and "INDEX" not in words and words[1] in (*LARGE, "c")


def scans(statements: list[str]) -> list[str]:
    """The steps of those that touch calls or usage."""
    touching = [found for found in statements if any(table in found for table in LARGE)]
    assert touching
    return [line for found in touching for line in steps.explained(found).splitlines() if is_full_scan(line)]


def test_reserving_noting_and_ending_read_their_own_calls(busy):
    with steps.captured() as statements:
        call = relayed_steps.opened(busy[0])
        relayed_calls.note([SeenUsage(call_id=call.call_id, usage=relayed_steps.USAGE, actual_micros=5)])
        assert relayed_calls.end([relayed_steps.ending(call)]) == [True]
    assert scans(statements) == []


@pytest.mark.parametrize("end", [relayed_calls.end, relayed_calls.end_free])
def test_an_end_reads_its_own_hold_however_many_are_open(busy, end):
    call = relayed_steps.opened(busy[0])
    with steps.captured() as statements:
        assert end([relayed_steps.ending(call)])
    plans = [steps.explained(found) for found in statements if "billing_hold" in found]
    assert plans
    assert not any("hold_open" in plan for plan in plans)


def test_the_end_of_a_task_reads_its_own_hold_however_many_are_open(busy):
    account = busy[0].account
    ledger.reserve([Reservation(reference="task_x", account_id=account.pk, amount_micros=5)])
    with steps.captured() as statements:
        close_holds([Closing(reference="task_x", account_id=account.pk, actual_micros=None)])
    plans = [steps.explained(found) for found in statements if "billing_hold" in found]
    assert plans
    assert not any("hold_open" in plan for plan in plans)


def test_lost_calls_are_found_by_index(busy):
    with steps.captured() as statements:
        assert lost_calls.seconds_to_next() > 0
        assert lost_calls.endings() == []
    assert scans(statements) == []


def test_usage_is_read_of_one_key_and_no_call(busy):
    with steps.captured() as statements:
        assert relay_usage.of_key(busy[0].id, busy[0].account.pk)["total"]["calls"] == 400
    assert scans(statements) == []
    assert not any("billing_relayedcall" in found for found in statements)


def test_a_scrape_reads_no_call_that_has_ended_well(busy):
    running_totals.relayed.settled = running_totals.Settled()
    assert list(metrics.relayed({1: "text-1"}))  # the first one of a process reads all usage
    with steps.captured() as statements:
        found = {family.name: family.samples[0].value for family in metrics.relayed({1: "text-1"})}
    assert scans(statements) == []
    assert list(found.values()) == [OPEN, 400 * KEYS, CALLS / 2_000, CALLS / 2_000, 0]


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"state": "open"},
        {"state": "released"},
        {"care": "loss"},
        {"care": "estimated"},
        {"q": "model-7"},
        {"q": "no-such-model"},
        {"q": "call_" + "0" * 26},
    ],
)
def test_the_operators_list_reads_a_page(busy, operator: Client, query):
    with steps.captured() as statements:
        answer = operator.get(reverse("admin:billing_relayedcall_changelist"), query)
    assert answer.status_code == 200
    assert scans(statements) == []


def test_the_calls_of_an_account_are_read_by_index(busy):
    with steps.captured() as statements:
        assert len(RelayedCall.objects.filter(account=busy[3].account).order_by("-id")[:50]) == 50
    assert scans(statements) == []
