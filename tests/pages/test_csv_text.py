"""CSV files: what a spreadsheet makes of what we write."""

import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.csv_text import amount, rows, written

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
