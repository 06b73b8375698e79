"""When polls are due, by a clock that stands still until a test moves it."""

import pytest

from tasks.due_calls import Followed
from worker.follow.schedule import CROWD, CROWD_SECONDS, Schedule


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def schedule(clock: Clock) -> Schedule:
    return Schedule(clock=clock)


def rows(*ids: int, wait: float = 0.0, stamp: str = "first") -> list[Followed]:
    return [Followed(id=each, wait_seconds=wait, stamp=stamp) for each in ids]


def test_a_call_is_taken_once_when_it_is_due_and_again_when_its_wait_is_over(schedule, clock):
    schedule.learn(rows(1, wait=5.0), are_all=False)
    assert schedule.take(9) == []
    clock.now += 5
    assert (schedule.take(9), schedule.take(9)) == ([1], [])
    schedule.put(1, 10.0)
    schedule.learn(rows(1, wait=-5.0), are_all=True)  # its row says what it said: no poll has moved it
    clock.now += 9
    assert schedule.take(9) == []
    clock.now += 1
    assert schedule.take(9) == [1]


def test_what_is_due_first_comes_first_and_as_many_as_asked(schedule, clock):
    for call_id, wait in ((1, 3.0), (2, 1.0), (3, 2.0)):
        schedule.learn(rows(call_id, wait=wait), are_all=False)
    clock.now += 9
    assert (schedule.take(2), schedule.take(2)) == ([2, 3], [1])


@pytest.mark.parametrize("is_in_hand", [False, True])
def test_a_row_that_somebody_moves_hastens_its_poll_and_never_delays_it(schedule, clock, is_in_hand):
    schedule.learn(rows(1, 2), are_all=False)
    assert schedule.take(9) == [1, 2]
    if not is_in_hand:
        schedule.put(1, 60.0)
        schedule.put(2, 60.0)
    schedule.learn([*rows(1, stamp="moved"), *rows(2, wait=3_600.0, stamp="moved")], are_all=False)
    if is_in_hand:
        schedule.put(1, 60.0)
        schedule.put(2, 60.0)
    assert schedule.take(9) == [1]
    clock.now += 60
    assert schedule.take(9) == [2]


def test_what_is_gone_from_the_rows_is_forgotten_unless_it_is_in_hand(schedule, clock):
    schedule.learn(rows(1, 2, 3), are_all=False)
    (in_hand,) = schedule.take(1)
    schedule.learn(rows(3), are_all=True)
    schedule.learn([], are_all=False)
    assert schedule.take(9) == [3]
    schedule.put(in_hand, 0.0)
    assert schedule.take(9) == [in_hand]
    schedule.forget([in_hand])
    schedule.put(in_hand, 0.0)
    assert schedule.take(9) == []


def test_a_crowd_that_is_found_at_once_is_spread(schedule, clock):
    schedule.learn(rows(*range(3 * CROWD)), are_all=True)
    assert len(schedule.take(10_000)) == CROWD
    clock.now += CROWD_SECONDS
    assert len(schedule.take(10_000)) == CROWD
    clock.now += CROWD_SECONDS
    assert len(schedule.take(10_000)) == CROWD


def test_what_is_due_about_together_is_due_together_on_a_grid(schedule, clock):
    schedule.learn(rows(1, 2, 3), are_all=False)
    for call_id in schedule.take(9):
        clock.now += 0.2
        schedule.put(call_id, 9.5, grid=1.0)
    clock.now = 1_009.9
    assert schedule.take(9) == []
    clock.now = 1_011.0
    assert schedule.take(9) == [1, 2, 3]
