"""What a server may say in Retry-After."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from hypothesis import given
from hypothesis import strategies as st

from common.http import retry_after


def test_retry_after_is_read_as_seconds_or_date() -> None:
    headers = {"120": 120, " 0 ": 0, "0.5": 0.5, "-5": 0, "1e9": 3600, "Fri, 01 Jan 1999 00:00:00 GMT": 0}
    assert {header: retry_after.seconds(header, longest=3600) for header in headers} == headers


def test_retry_after_as_a_date_counts_from_now() -> None:
    moment = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    before = datetime.now(UTC)
    seconds = retry_after.seconds(format_datetime(moment, usegmt=True), longest=86_400)
    assert seconds is not None
    assert before <= moment - timedelta(seconds=seconds) <= datetime.now(UTC)


def test_an_illegible_retry_after_is_none() -> None:
    headers = ["", "soon", "nan", "inf", "²", "Fri, 99 Jan 1999 00:00:00 GMT", "Fri, 01 Jan 1999 00:00:00"]
    headers += ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 2035 00:00:00 +99999999999999"]
    assert [header for header in headers if retry_after.seconds(header, longest=3600) is not None] == []


@given(header=st.text() | st.from_regex(r"[A-Z][a-z]{2}, [0-9]{1,2} [A-Z][a-z]{2} [0-9:+ -]*"))
def test_no_retry_after_breaks_an_attempt(header: str) -> None:
    assert 0 <= (retry_after.seconds(header, longest=3600) or 0) <= 3600
