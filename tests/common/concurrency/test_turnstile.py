"""Few at a time, in order, and nobody waits for one that is slow."""

import threading
from collections.abc import Callable

import pytest

from common.concurrency.turnstile import Turnstile
from tests.threads import joined
from tools.children import PATIENCE, wait_until


def lined_up(turnstile: Turnstile, act: Callable[[], None]) -> threading.Thread:
    """A thread that stands in line, and does this once it is in."""

    def pass_through() -> None:
        with turnstile.passage(patience=PATIENCE):
            act()

    behind = turnstile.waiting
    thread = threading.Thread(target=pass_through, daemon=True)
    thread.start()
    wait_until(lambda: turnstile.waiting > behind, what="a thread in line")
    return thread


def test_no_more_than_so_many_are_in_and_the_others_follow_in_order() -> None:
    turnstile = Turnstile(1, seconds=PATIENCE)
    entered: list[int] = []
    with turnstile.passage(patience=PATIENCE):
        threads = [lined_up(turnstile, lambda number=number: entered.append(number)) for number in range(5)]
        assert entered == []
    joined(*threads)
    assert entered == [0, 1, 2, 3, 4]


def test_one_that_takes_long_keeps_nobody_waiting() -> None:
    turnstile = Turnstile(1, seconds=0.01)

    def pass_through() -> None:
        with turnstile.passage(patience=PATIENCE):
            pass

    with turnstile.passage(patience=PATIENCE):
        others = [threading.Thread(target=pass_through, daemon=True) for _ in range(3)]
        for other in others:
            other.start()
        joined(*others)


def test_one_that_fails_makes_room() -> None:
    turnstile = Turnstile(1, seconds=PATIENCE)
    with pytest.raises(ValueError, match="broken"), turnstile.passage(patience=PATIENCE):
        raise ValueError("broken")
    with turnstile.passage(patience=PATIENCE):
        pass


def test_who_may_not_wait_goes_in_and_keeps_nobody_else_from_it():
    turnstile = Turnstile(1, seconds=PATIENCE)
    with turnstile.passage(patience=PATIENCE):
        behind = lined_up(turnstile, lambda: None)
        with turnstile.passage(patience=0.01):
            assert turnstile.waiting == 1
    joined(behind)
