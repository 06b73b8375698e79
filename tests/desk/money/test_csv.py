"""CSV files: what a spreadsheet makes of them, and what a statement looks like in one."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import Account
from desk.money import statement_csv
from desk.money.csv_text import amount, rows, written
from desk.money.months import Month
from desk.money.statement import Booking
from tests.desk.money.entries import book

NOVEMBER = Month(year=2026, number=11)
BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t1", " =1", "＝1", "\ufeff=1", "-", "\u00a0@x"])
def test_a_text_that_would_be_a_formula_stays_a_text(text):
    assert written(text) == f"'{text}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gpt;=1+1;x", "gpt;'=1+1;x"),
        ('a; "@x', "a; \"'@x"),
        ("a\n-1", "a\n'-1"),
        ("\t=1", "'\t'=1"),
        ("a;b-c", "a;b-c"),
    ],
)
def test_no_part_of_a_text_begins_a_formula_where_semicolons_part_cells(text, told):
    assert written(text) == told
    for cells in csv.reader(io.StringIO("".join(rows([["x", text]])), newline=""), delimiter=";"):
        assert not any(cell.lstrip().startswith(BEGINS_A_FORMULA) for cell in cells)


def test_numbers_stay_numbers_and_other_texts_are_left_alone():
    assert [written(cell) for cell in (amount(-40_000), -3, "a-b", "", "1", "'x")] == [
        "-0.04",
        "-3",
        "a-b",
        "",
        "1",
        "'x",
    ]


@given(st.integers(-(10**18), 10**18))
def test_an_amount_has_as_many_decimals_as_it_needs_and_two_at_least(micros):
    text = written(amount(micros))
    assert Decimal(text) * 1_000_000 == micros
    decimals = text.rpartition(".")[2]
    assert len(decimals) == 2 or (2 < len(decimals) <= 6 and not decimals.endswith("0"))


@given(st.lists(st.lists(TEXTS | st.integers() | st.integers().map(amount), min_size=1), max_size=5))
def test_whatever_a_cell_holds_it_is_read_back_and_begins_no_formula(table):
    read = list(csv.reader(io.StringIO("".join(rows(table)), newline="")))
    assert len(read) == len(table)
    for cells, told in zip(read, table, strict=True):
        for cell, value in zip(cells, told, strict=True):
            if isinstance(value, str):
                assert cell.replace("'", "") == value.replace("'", "")
                assert not cell.startswith(BEGINS_A_FORMULA)
            else:
                assert Decimal(cell) == value


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
