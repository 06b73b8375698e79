"""What the columns of a bill mean, and the lines that come of it; a bad row is named and no more."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.bills import cells, columns
from desk.bills.columns import BillColumns
from desk.bills.tables import Table, TableRow

PLAIN = BillColumns(upstream_id="id", amount="cost")


def table(*rows, head=("id", "cost")):
    listed = tuple(TableRow(line=number, cells=tuple(cells)) for number, cells in enumerate(rows, 2))
    return Table(head=tuple(head), rows=listed)


@pytest.mark.parametrize(
    ("text", "unit", "mark", "micros"),
    [
        ("0.04", "usd", ".", 40_000),
        ("$1,234.5", "usd", ".", 1_234_500_000),
        ("1.234,50 USD", "usd", ",", 1_234_500_000),
        ("1 234,5", "usd", ",", 1_234_500_000),
        ("4", "cents", ".", 40_000),
        ("40000", "micros", ".", 40_000),
        ("(0.04)", "usd", ".", -40_000),
        ("\u22120.04", "usd", ".", -40_000),
        ("-.5", "usd", ".", -500_000),
        ("4e-2", "usd", ".", 40_000),
        ("0.0000005", "usd", ".", 1),
        ("0", "usd", ".", 0),
    ],
)
def test_amounts_are_read_as_people_write_them(text, unit, mark, micros):
    assert cells.amount(text, unit=unit, mark=mark) == micros


@pytest.mark.parametrize("text", ["", "free", "1.2.3", "12,34", "1,2345", "nan", "inf", "1e999", "٤", "--1", "9" * 70])
def test_what_is_no_amount_is_told(text):
    with pytest.raises(ValueError, match=r"is not an amount|is missing|beyond|too long"):
        cells.amount(text, unit="usd", mark=".")


@given(st.integers(-(10**15), 10**15), st.sampled_from(".,"), st.booleans())
def test_every_amount_is_read_back_exactly(micros, mark, grouped):
    text = f"{Decimal(micros) / 10**6:{',' if grouped else ''}f}"
    written = text.translate(str.maketrans(",.", ".,")) if mark == "," else text
    assert cells.amount(written, unit="usd", mark=mark) == micros


MOMENT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T09:30:00Z",
        "2026-11-21T11:30:00+02:00",
        "2026-11-21 09:30",
        "2026/11/21 09:30:00 UTC",
        "1795253400",
        "1795253400000",
    ],
)
def test_moments_are_read_as_programs_write_them(text):
    assert cells.moment(text) == MOMENT


@given(st.datetimes(max_value=datetime(9999, 12, 31), timezones=st.just(timezone(timedelta(hours=-5)))))
def test_every_iso_moment_is_read_back(at):
    assert cells.moment(at.isoformat()) == at


@pytest.mark.parametrize("text", ["", "soon", "0001-01-01T00:00:00+01:00", "9999-12-31T23:00:00-05:00"])
def test_what_is_no_moment_is_told(text):
    with pytest.raises(ValueError, match=r"is not a time such as|is missing"):
        cells.moment(text)


def test_columns_are_guessed_by_their_names():
    head = ("Created At", "Generation ID", "Model", "Cost (USD)", "Total cost", "Currency")
    guessed = columns.guessed(head)
    assert (guessed.upstream_id, guessed.amount, guessed.time) == ("Generation ID", "Cost (USD)", "Created At")
    assert (guessed.model, guessed.currency) == ("Model", "Currency")
    assert columns.guessed(("a", "b")) == BillColumns(upstream_id="", amount="")


def test_a_bad_row_is_named_by_its_line_and_stops_no_other():
    good, bad = columns.lines(
        table(["j1", "0.04"], ["", "1"], ["j2", "x"], ["j3"], ["j" * 1025, "1"], ["j4", "2"]), PLAIN
    )
    assert [(line.line, line.upstream_id, line.amount_micros) for line in good] == [
        (2, "j1", 40_000),
        (7, "j4", 2_000_000),
    ]
    assert [(row.line, row.why) for row in bad] == [
        (3, "the id of the job is missing"),
        (4, "“x” is not an amount"),
        (5, "the row ends before column 2"),
        (6, "the id of the job has more than 1,024 characters"),
    ]


def test_another_currency_and_no_time_are_bad_rows():
    named = BillColumns(upstream_id="id", amount="cost", currency="cur", time="at")
    rows = table(["j", "1", "EUR", "2026-11-21"], ["j", "1", "usd", "soon"], head=("id", "cost", "cur", "at"))
    assert [row.why for row in columns.lines(rows, named)[1]] == [
        "“EUR” is not USD",
        "“soon” is not a time such as 2026-11-21 09:30:00",
    ]


def test_what_is_remembered_fits_a_table_with_these_columns_only():
    assert PLAIN.fit(["cost", "other", "id"])
    assert not PLAIN.fit(["cost"])
