"""Task ids: opaque, ordered by time."""

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from common import ids
from tools.children import wait_until

FORM = re.compile(r"task_[0-9abcdefghjkmnpqrstvwxyz]{26}")


def test_ids_rise_and_have_the_documented_form():
    made = [ids.new_task_id() for _ in range(1000)]
    assert made == sorted(set(made))
    assert all(FORM.fullmatch(task_id) and ids.is_task_id(task_id) for task_id in made)


def test_later_ids_sort_after_earlier_ones():
    first = ids.new_task_id()
    wait_until(lambda: ids.new_task_id()[:15] != first[:15])
    assert first < ids.new_task_id()


def test_the_floor_borders_the_ids_of_its_moment():
    before = time.time() - 0.002
    made = ids.new_task_id()
    assert ids.task_id_floor(before) <= made < ids.task_id_floor(time.time() + 0.002)


def test_a_floor_of_any_moment_is_an_id():
    assert all(ids.is_task_id(ids.task_id_floor(moment)) for moment in (-(10.0**12), 0.0, 10.0**12))


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_encoding_keeps_the_order(one, other):
    assert (ids.encode(one) < ids.encode(other)) == (one < other)


def test_other_texts_are_no_ids():
    digits = "0" * 26
    near = [f"task_{digits[1:]}", f"task_{digits}0", f"TASK_{digits}", f"task_{'l' * 26}", f"task_{'０' * 26}"]
    assert [text for text in ("", "task_", *near) if ids.is_task_id(text)] == []
