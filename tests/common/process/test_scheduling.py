"""How web processes take their turns on the cores."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from common.process import scheduling
from common.process.scheduling import OneCore


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux alone has it")
def test_a_thread_and_those_it_starts_interrupt_nobody():
    def policies() -> tuple[int, int]:
        scheduling.finish_turns()
        with ThreadPoolExecutor(1) as started:
            return os.sched_getscheduler(0), started.submit(os.sched_getscheduler, 0).result()

    with ThreadPoolExecutor(1) as own:
        assert own.submit(policies).result() == (os.SCHED_BATCH, os.SCHED_BATCH)
    assert os.sched_getscheduler(0) != os.SCHED_BATCH


@pytest.fixture
def cores() -> Iterator[set[int]]:
    found = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if len(found) < 2:
        pytest.skip("needs two cores, of Linux")
    yield found
    scheduling.allow(found)


def test_all_threads_are_on_one_core_until_they_are_released(cores):
    core = OneCore()
    with threads_at_rest(3) as resting:
        core.gather()
        (gathered,) = {tuple(os.sched_getaffinity(thread)) for thread in [os.getpid(), *resting]}
        core.release()
        released = [os.sched_getaffinity(thread) for thread in [os.getpid(), *resting]]
    assert len(gathered) == 1
    assert set(gathered) < cores
    assert released == [cores] * 4


def test_a_thread_that_starts_later_is_on_the_core_too(cores):
    OneCore().gather()
    with threads_at_rest(1) as (started,):
        assert os.sched_getaffinity(started) == os.sched_getaffinity(0)


def test_a_process_that_may_use_one_core_alone_stays_there(cores):
    scheduling.allow({min(cores)})
    core = OneCore()
    core.gather()
    core.release()
    assert os.sched_getaffinity(0) == {min(cores)}


@contextmanager
def threads_at_rest(count: int) -> Iterator[list[int]]:
    """The ids by which the system knows threads that run until the end of the block."""
    over, ready = threading.Event(), threading.Barrier(count + 1)
    found: list[int] = []

    def rest() -> None:
        found.append(threading.get_native_id())
        ready.wait()
        over.wait()

    started = [threading.Thread(target=rest) for _ in range(count)]
    for thread in started:
        thread.start()
    ready.wait()
    try:
        yield found
    finally:
        over.set()
        for thread in started:
            thread.join()
