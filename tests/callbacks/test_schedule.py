"""When the next attempt is due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callbacks import schedule

STEPS = (0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000)


def test_the_default_schedule_has_eight_attempts(settings):
    assert settings.CALLBACK_SCHEDULE == STEPS


def test_spaces_around_numbers_do_not_matter():
    assert schedule.parse(" 0, 5 ,300") == (0, 5, 300)


def test_anything_but_a_few_whole_seconds_is_refused():
    for text in ("", "0,", "-1", "1.5", "0;5", "٣", "604801", "9" * 5000, ",".join(["1"] * 51)):
        with pytest.raises(ValueError, match=r"seconds|attempts"):
            pytest.fail(f"{text} is {schedule.parse(text)}")


@given(attempts=st.integers(1, 7))
def test_a_wait_is_its_step_give_or_take_a_fifth(attempts):
    wait = schedule.wait_seconds(STEPS, attempts=attempts)
    assert wait is not None
    assert STEPS[attempts] * 0.8 <= wait <= STEPS[attempts] * 1.2


def test_after_the_last_attempt_comes_none():
    assert [schedule.wait_seconds(STEPS, attempts=attempts, retry_after=1) for attempts in (8, 100)] == [None] * 2


@given(attempts=st.integers(1, 7), asked=st.floats(0, 1e9))
def test_retry_after_counts_between_one_and_two_steps(attempts, asked):
    step = STEPS[attempts]
    wait = schedule.wait_seconds(STEPS, attempts=attempts, retry_after=asked)
    assert wait is not None
    assert step <= wait <= 2 * step
    assert wait >= min(asked, 2 * step)


def test_waits_differ_so_that_a_crowd_does_not_come_back_as_one():
    assert len({schedule.wait_seconds(STEPS, attempts=2) for _ in range(20)}) > 10
    assert len({schedule.wait_seconds(STEPS, attempts=2, retry_after=400) for _ in range(20)}) > 10
