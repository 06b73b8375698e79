"""What a receiver may say in Retry-After."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbacks import sender


@pytest.mark.parametrize(
    ("header", "seconds"), [("120", 120), (" 0 ", 0), ("9" * 400, 999_999_999), ("Fri, 01 Jan 1999 00:00:00 GMT", 0)]
)
def test_retry_after_is_read_as_seconds_or_date(header, seconds):
    assert sender.retry_after({"Retry-After": header}) == seconds


def test_retry_after_as_a_date_counts_from_now():
    header = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 88 < (sender.retry_after({"Retry-After": header}) or 0) <= 90


@pytest.mark.parametrize(
    "header",
    [
        *("", "soon", "-5", "1.5", "²", "Fri, 99 Jan 1999 00:00:00 GMT", "Fri, 01 Jan 1999 00:00:00"),
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2035 00:00:00 +99999999999999",
    ],
)
def test_an_illegible_retry_after_is_none(header):
    assert sender.retry_after({"Retry-After": header}) is None


@given(header=st.text() | st.from_regex(r"[A-Z][a-z]{2}, [0-9]{1,2} [A-Z][a-z]{2} [0-9:+ -]*"))
def test_no_retry_after_breaks_an_attempt(header):
    assert (sender.retry_after({"Retry-After": header}) or 0) >= 0
