"""Months as statements have them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import months
from common.months import Month

ANY = st.builds(Month, year=st.integers(2000, 2098), number=st.integers(1, 12))


@given(ANY)
def test_months_follow_each_other_without_a_gap(month):
    assert month.end == month.later(1).start
    assert months.of(month.start) == months.of(month.end - timedelta(microseconds=1)) == month
    assert month.later(5).later(-5) == months.parse(str(month)) == month


def test_a_moment_belongs_to_the_month_that_it_has_in_utc():
    assert str(months.of(datetime(2026, 12, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))))) == "2026-11"


@pytest.mark.parametrize("text", ["", "2026", "2026-13", "2026-00", "1999-01", "2026-1", "2026-11 ", "٢٠٢٦-11", "x"])
def test_what_is_no_month_is_refused(text):
    with pytest.raises(ValueError, match="is no month"):
        months.parse(text)


def test_the_latest_months_come_first_and_are_bounded():
    first, last = datetime(2025, 11, 30, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
    assert [str(month) for month in months.between(first, last, most=12)] == ["2026-01", "2025-12", "2025-11"]
    assert [str(month) for month in months.between(first, last, most=2)] == ["2026-01", "2025-12"]
