"""Providers' CSV files: whatever their encoding, delimiter and quoting; and what no table can be made of."""

import csv
import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.bills import tables
from desk.bills.tables import UnreadableTable

HEAD = ["task id", "cost"]
CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(str.strip)
TABLES = st.lists(st.tuples(CELLS.filter(bool), CELLS), min_size=1, max_size=20)


def written(rows, delimiter=",", encoding="utf-8", quoting=csv.QUOTE_MINIMAL, end="\r\n"):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows([HEAD, *rows])
    return file.getvalue().encode(encoding)


@given(
    TABLES,
    st.sampled_from(tables.DELIMITERS),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\r\n", "\n"]),
)
def test_a_table_is_read_as_it_was_written(rows, delimiter, encoding, end):
    """Quoted, so that the cells say nothing of the delimiter."""
    read = tables.read(written(rows, delimiter, encoding, csv.QUOTE_ALL, end))
    assert read.head == tuple(HEAD)
    assert [row.cells for row in read.rows] == [tuple(row) for row in rows]


@given(st.binary(max_size=300))
def test_whatever_a_file_holds_it_is_a_table_or_refused(content):
    with suppress(UnreadableTable):
        assert tables.read(content).rows


def test_a_row_knows_its_line_of_the_file():
    content = b'May 2026\n\nid;cost\njob-1;1\n"job\n2";2\n\njob-3;3\n'
    assert [(row.line, row.cells[0]) for row in tables.read(content).rows] == [
        (4, "job-1"),
        (6, "job\n2"),
        (8, "job-3"),
    ]


def test_an_old_spreadsheet_writes_the_alphabet_of_windows():
    assert tables.read("id;Gebühr €\nj;1".encode("cp1252")).head == ("id", "Gebühr €")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "two columns"),
        (b"id\njob-1\n", "two columns"),
        (b"id,cost\n", "no row"),
        (b'id,cost\n"job-1,4\n', "Line 2 is not CSV"),
        (b"id,cost\n\x00,4\n", "not text"),
        (b"PK\x03\x04\x00\x00", "not text"),
        (b"id,cost\n" + b"j,1\n" * 20_001, "more than 20,000 rows"),
        (b"id,cost\n" + b"x" * 2001 + b",1\n", "Line 2 has a cell"),
        (b"a," * 101 + b"\n1,2\n", "more than 100 columns"),
        (b"x" * (tables.MOST_BYTES + 1), "larger than 2 MiB"),
    ],
)
def test_what_is_no_table_is_refused_with_a_word(content, why):
    with pytest.raises(UnreadableTable, match=why):
        tables.read(content)
