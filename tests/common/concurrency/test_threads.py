"""How the threads of a web process are dealt."""

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from common import tracebacks
from common.concurrency import threads
from common.concurrency.threads import THREADS, DealtThreads, Share
from tools.children import PATIENCE, wait_until


class Work:
    """Runs on dealt threads and holds each until `release`; notes who began."""

    def __init__(self, count: int) -> None:
        self.executor = DealtThreads(count, "dealt")
        self.begun: list[object] = []
        self.release = threading.Event()

    def submit(self, share: Share, name: object = None) -> "Future[Any]":
        token = threads.share.set(share)
        try:
            return self.executor.submit(self._run, name or share.payer)
        finally:
            threads.share.reset(token)

    def _run(self, name: object) -> object:
        self.begun.append(name)
        assert self.release.wait(PATIENCE)
        return name


@pytest.fixture
def work() -> Iterator[Callable[[int], Work]]:
    made: list[Work] = []

    def make(count: int) -> Work:
        made.append(Work(count))
        return made[-1]

    yield make
    for each in made:
        each.release.set()


def test_an_account_holds_at_most_half_and_another_is_served_meanwhile(work):
    own = work(THREADS)
    for _ in range(3 * THREADS):
        own.submit(threads.of_account(1))
    others = [own.submit(threads.of_account(2)) for _ in range(THREADS // 2)]
    wait_until(lambda: len(own.begun) == THREADS)
    assert own.begun.count(2) == len(others)
    own.release.set()
    assert {other.result(PATIENCE) for other in others} == {2}


def test_strangers_together_hold_less_than_an_account(work):
    own = work(THREADS)
    for number in range(THREADS):
        own.submit(threads.of_nobody("strangers", str(number)))
    own.submit(threads.of_account(1)), own.submit(threads.SERVICE)
    wait_until(lambda: {1, "service"} <= set(own.begun))
    assert own.begun.count("strangers") == THREADS // 4


def test_a_long_queue_of_one_payer_does_not_stand_before_another(work):
    own = work(1)
    done = [own.submit(Share(payer=1), f"first {number}") for number in range(5)]
    done.append(own.submit(Share(payer=2), "second"))
    own.release.set()
    assert all(each.result(PATIENCE) for each in done)
    assert own.begun.index("second") == 2


def test_strangers_take_turns_among_themselves(work):
    own = work(1)
    done = [own.submit(Share(payer="strangers", member="a"), f"a {number}") for number in range(5)]
    done.append(own.submit(Share(payer="strangers", member="b"), "b"))
    own.release.set()
    assert all(each.result(PATIENCE) for each in done)
    assert own.begun.index("b") == 2


def test_whoever_has_fewest_threads_gets_the_next(work):
    own = work(4)
    for _ in range(3):
        own.submit(Share(payer=1, most=4))
    gate = threading.Event()
    token = threads.share.set(Share(payer=3))
    last = own.executor.submit(gate.wait, PATIENCE)
    threads.share.reset(token)
    own.submit(Share(payer=1, most=4))
    own.submit(Share(payer=2, most=4))
    gate.set()
    assert last.result(PATIENCE)
    wait_until(lambda: len(own.begun) == 4)
    assert own.begun == [1, 1, 1, 2]


def test_what_was_canceled_in_the_queue_is_left_out_and_faults_are_passed_on(work):
    own = work(1)
    own.submit(Share(payer=1))
    left = own.submit(Share(payer=1), "left")
    faulty = own.executor.submit(int, "x")
    assert left.cancel()
    own.release.set()
    with pytest.raises(ValueError, match="invalid literal"):
        faulty.result(PATIENCE)
    assert own.begun == [1]


def test_work_that_is_canceled_while_it_runs_is_waited_for():
    begun, release, is_over = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert release.wait(PATIENCE)
        is_over.set()

    async def leave() -> None:
        waiting = asyncio.ensure_future(threads.compute(work))
        await asyncio.to_thread(begun.wait, PATIENCE)
        waiting.cancel()
        asyncio.get_running_loop().call_soon(release.set)
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        assert is_over.is_set()

    asyncio.run(leave())


def test_work_that_fails_holds_what_it_was_about_no_longer_than_its_error_lives():
    class Thing:
        pass

    def fails(thing: Thing) -> None:
        raise ValueError

    async def ask() -> "weakref.ref[Thing]":
        thing = Thing()
        try:
            await threads.compute(fails, thing)
        except ValueError as error:
            tracebacks.let_go(error)
        return weakref.ref(thing)

    gc.disable()
    try:
        left = asyncio.run(ask())
        wait_until(lambda: left() is None, what="the thread's last step")
    finally:
        gc.enable()
