"""One range is served as the RFC says; everything else is the whole file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import RangeNotSatisfiable
from tasks_api import byte_ranges
from tasks_api.byte_ranges import ByteRange

ETAG = '"0123"'


def select(*ranges: str, if_range: tuple[str, ...] = (), size: int = 1000) -> ByteRange | None:
    return byte_ranges.select(ranges, if_range, etag=ETAG, size=size)


def test_a_range_within_the_file_is_served() -> None:
    for value, start, length in (
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 100),
        ("bytes=999-999", 999, 1),
        ("bytes=900-", 900, 100),
        ("bytes=0-", 0, 1000),
        ("bytes=-1", 999, 1),
        ("bytes=-1000", 0, 1000),
        ("bytes=-5000", 0, 1000),
        ("bytes=500-99999999999999999999999", 500, 500),
        ("BYTES=1-2", 1, 2),
        ("bytes= 1-2 ", 1, 2),
    ):
        assert select(value) == ByteRange(start=start, length=length), value


@pytest.mark.parametrize("value", ["bytes=1000-", "bytes=1000-2000", "bytes=-0", "bytes=9999999999999999999999-"])
def test_a_range_behind_the_end_cannot_be_satisfied(value: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as raised:
        select(value)
    assert raised.value.headers == {"Content-Range": "bytes */1000"}


def test_what_makes_no_sense_is_ignored() -> None:
    for value in (
        "bytes=5-2",
        "bytes=0-1,5-6",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=--1",
        "bytes=+1-2",
        "bytes=1 - 2",
        "bytes=٣-٤",
        "bytes=" + "9" * 50 + "-",
        "items=0-1",
        "0-1",
        "",
    ):
        assert select(value) is None, value


def test_no_header_and_two_headers_mean_the_whole_file() -> None:
    assert select() is None
    assert select("bytes=0-1", "bytes=2-3") is None


def test_if_range_admits_only_this_very_version() -> None:
    assert select("bytes=0-1", if_range=(ETAG,)) == ByteRange(start=0, length=2)


def test_if_range_of_another_version_means_the_whole_file() -> None:
    for other in ('"4567"', f"W/{ETAG}", "Sat, 21 Nov 2026 09:00:00 GMT", "", "*"):
        assert select("bytes=0-1", if_range=(other,)) is None, other
        assert select("bytes=5000-", if_range=(other,)) is None, other


def test_content_range_counts_from_zero_and_includes_the_last() -> None:
    assert ByteRange(start=10, length=5).content_range(1000) == "bytes 10-14/1000"


@given(st.from_regex(r"bytes=[0-9]{0,6}-[0-9]{0,6}", fullmatch=True), st.integers(1, 10_000))
def test_a_range_never_leaves_the_file(value: str, size: int) -> None:
    try:
        chosen = select(value, size=size)
    except RangeNotSatisfiable:
        return
    assert chosen is None or (chosen.start >= 0 and chosen.length > 0 and chosen.start + chosen.length <= size)


def test_a_known_version_is_recognised() -> None:
    for values in ([ETAG], [f"W/{ETAG}"], ["*"], ['"a", "0123"'], ['"a"', f"{ETAG}"], ['"a",W/"0123"']):
        assert byte_ranges.is_known(values, ETAG), values


def test_another_version_is_not() -> None:
    for values in ([], [""], ['"a"'], ["0123"], ['"0123'], ['"*"']):
        assert not byte_ranges.is_known(values, ETAG), values
