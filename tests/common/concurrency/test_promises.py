"""Promises that threads keep: an event loop hears of all that are kept together at once."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from common.concurrency import promises
from common.concurrency.gathering import Gathering
from tools.children import PATIENCE


class Loop(asyncio.SelectorEventLoop):
    """Counts how often threads wake it up."""

    wake_ups = 0

    def call_soon_threadsafe(self, *arguments: Any, **options: Any) -> asyncio.Handle:
        self.wake_ups += 1
        return super().call_soon_threadsafe(*arguments, **options)


@pytest.fixture
def loop(caplog):
    """Nothing that it or a thread is told may fail: both would only log it."""
    made = Loop()
    yield made
    made.close()
    assert not caplog.get_records("call")


def on_a_thread(step: Callable[[], None]) -> None:
    threading.Thread(target=step, daemon=True).start()


def test_a_group_wakes_its_loop_once(loop):
    held = threading.Event()

    def doubled(items: list[int]) -> list[int]:
        assert held.wait(PATIENCE)
        return [item * 2 for item in items]

    async def ask_all() -> list[int]:
        gathering: Gathering[int, int] = Gathering(doubled, start=on_a_thread)
        answers = [promises.awaited(gathering.add(number)) for number in range(9)]
        held.set()
        return await asyncio.gather(*answers)

    assert loop.run_until_complete(ask_all()) == [number * 2 for number in range(9)]
    assert loop.wake_ups <= 2, "one for those that went first, and one for all others"


def test_each_loop_hears_of_its_own(loop):
    other = Loop()
    first, second = Future[int](), Future[int]()

    async def wait(promise: "Future[int]", begun: threading.Event) -> int:
        waiter = promises.awaited(promise)
        begun.set()
        return await waiter

    begun, found = (threading.Event(), threading.Event()), list[int]()
    threads = [
        threading.Thread(target=lambda n=n, p=p, at=at: found.append(at.run_until_complete(wait(p, begun[n]))))
        for n, (p, at) in enumerate(((first, loop), (second, other)))
    ]
    for number, thread in enumerate(threads):
        thread.start()
        assert begun[number].wait(PATIENCE)
    with promises.kept_together():
        with promises.kept_together():
            second.set_result(2)
        before = loop.wake_ups
        first.set_result(1)
        assert loop.wake_ups == before, "the inner block ends nothing but itself"
    for thread in threads:
        thread.join(PATIENCE)
    other.close()
    assert sorted(found) == [1, 2]


def test_what_a_thread_raises_its_waiter_gets(loop):
    async def wait() -> None:
        promise = Future[None]()
        waiter = promises.awaited(promise)
        promise.set_exception(ValueError("no"))
        with pytest.raises(ValueError, match="no"):
            await waiter

    loop.run_until_complete(wait())


def test_a_waiter_that_is_canceled_cancels_what_has_not_begun_and_hears_of_nothing(loop):
    async def leave() -> None:
        waiting, begun = Future[int](), Future[int]()
        assert begun.set_running_or_notify_cancel()
        waiters = [promises.awaited(promise) for promise in (waiting, begun)]
        for waiter in waiters:
            waiter.cancel()
        await asyncio.sleep(0)
        assert waiting.cancelled()
        begun.set_result(1)
        await asyncio.sleep(0)
        assert all(waiter.cancelled() for waiter in waiters)

    loop.run_until_complete(leave())


def test_a_promise_that_is_canceled_cancels_its_waiter(loop):
    async def wait() -> None:
        promise = Future[int]()
        waiter = promises.awaited(promise)
        promise.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter

    loop.run_until_complete(wait())


def test_a_loop_that_is_closed_hears_of_nothing(loop):
    promise = Future[int]()

    async def begin() -> None:
        promises.awaited(promise)

    loop.run_until_complete(begin())
    loop.close()
    promise.set_result(1)


def test_a_promise_that_is_kept_already_wakes_up_nobody(loop):
    async def wait() -> int:
        promise = Future[int]()
        promise.set_result(1)
        return await promises.awaited(promise)

    assert loop.run_until_complete(wait()) == 1
    assert loop.wake_ups == 0
