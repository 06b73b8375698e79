"""Task ids: opaque, ordered by time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import ids

FORM = re.compile(r"task_[0-9abcdefghjkmnpqrstvwxyz]{26}")


def test_an_id_has_the_documented_form():
    made = {ids.new_task_id() for _ in range(1000)}
    assert len(made) == 1000
    assert all(FORM.fullmatch(task_id) and ids.is_task_id(task_id) for task_id in made)


def test_later_ids_sort_after_earlier_ones():
    first = ids.new_task_id()
    deadline = time.monotonic() + 5
    while ids.new_task_id()[:15] == first[:15] and time.monotonic() < deadline:
        pass
    assert first < ids.new_task_id()


def test_the_floor_borders_the_ids_of_its_moment():
    before = time.time() - 0.002
    made = ids.new_task_id()
    assert ids.task_id_floor(before) <= made < ids.task_id_floor(time.time() + 0.002)


@pytest.mark.parametrize("moment", [-(10.0**12), 0.0, 10.0**12])
def test_a_floor_of_any_moment_is_an_id(moment):
    assert ids.is_task_id(ids.task_id_floor(moment))


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_encoding_keeps_the_order(one, other):
    assert (ids.encode(one) < ids.encode(other)) == (one < other)


@pytest.mark.parametrize(
    "text",
    ["", "task_", "task_" + 25 * "0", "task_" + 27 * "0", "TASK_" + 26 * "0", "task_" + 26 * "l", "task_" + 26 * "０"],
)
def test_other_texts_are_no_ids(text):
    assert not ids.is_task_id(text)
