"""A statement as a CSV file."""

import csv
import io
from datetime import UTC, datetime

import pytest

from accounts.models import Account
from common.months import Month
from desk.money import statement_csv
from desk.money.statement import Booking
from pages.csv_text import written
from tests.billing.entries import book

NOVEMBER = Month(year=2026, number=11)


def line(micros, reason=""):
    at = datetime(2026, 11, 21, 9, 30, 15, 999, tzinfo=UTC)
    return Booking(at=at, kind="credit", reference="wire-1", model="", key="", reason=reason, amount_micros=micros)


def test_a_statement_runs_from_the_opening_to_the_closing_balance():
    bookings = [line(-40_000), line(1, "=cmd")]
    table = list(statement_csv.table(NOVEMBER, 500_000, bookings, now=NOVEMBER.later(1).end))
    assert table[0] == statement_csv.HEAD
    assert [[written(cell) for cell in row] for row in table[1:]] == [
        ["2026-11-01 00:00:00", "opening balance", "", "", "", "", "", "0.50"],
        ["2026-11-21 09:30:15", "credit", "wire-1", "", "", "", "-0.04", "0.46"],
        ["2026-11-21 09:30:15", "credit", "wire-1", "", "", "'=cmd", "0.000001", "0.460001"],
        ["2026-12-01 00:00:00", "closing balance", "", "", "", "", "", "0.460001"],
    ]


def test_a_running_month_ends_with_what_stands_now():
    now = datetime(2026, 11, 22, 10, 0, 1, tzinfo=UTC)
    last = list(statement_csv.table(NOVEMBER, 500_000, [line(-40_000)], now=now))[-1]
    assert (last[0], last[1], written(last[-1])) == ("2026-11-22 10:00:01", "balance now", "0.46")


@pytest.mark.django_db
def test_a_file_is_made_of_the_ledger():
    account = Account.objects.create(name="acme")
    book(account, datetime(2026, 10, 3, tzinfo=UTC), -5, reference="wire-1", reason="-odd")
    october = "".join(statement_csv.lines(account.pk, NOVEMBER.later(-1)))
    told = list(csv.DictReader(io.StringIO(october)))
    assert [(row["reason"], row["amount_usd"], row["balance_usd"]) for row in told] == [
        ("", "", "0.00"),
        ("'-odd", "-0.000005", "-0.000005"),
        ("", "", "-0.000005"),
    ]
