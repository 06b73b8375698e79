"""What the threads of several paid calls share."""

import threading

from tests.threads import joined
from tests.worker.driving import WaitedFor, beside
from tools.children import wait_until
from worker.buy.jobs import Refusals


class Kind(str):
    """Equal to any other of its word; while it is being added, somebody else comes with it, too."""

    meanwhile = staticmethod(lambda: None)
    times = 0

    def __hash__(self) -> int:
        self.times += 1
        if self.times == 2:  # the first time it was looked for
            self.meanwhile()
        return super().__hash__()


def test_of_two_threads_with_equal_refusals_one_tells() -> None:
    heard, lock = Refusals(), WaitedFor()
    heard._lock = lock  # type: ignore[assignment]
    told: list[bool] = []
    others: list[threading.Thread] = []

    def meanwhile() -> None:
        others.append(beside(lambda: told.append(heard.is_news(Kind("rate_limited")))))  # type: ignore[arg-type]
        wait_until(lambda: lock.is_waited_for.is_set() or not others[0].is_alive(), what="the other thread")

    kind = Kind("rate_limited")
    kind.meanwhile = meanwhile  # type: ignore[method-assign]
    told.append(heard.is_news(kind))  # type: ignore[arg-type]
    joined(others[0])
    assert sorted(told) == [False, True]
    assert heard.is_news(Kind("auth"))  # type: ignore[arg-type]
