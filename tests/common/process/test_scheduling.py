"""How web processes take their turns on the cores."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from common.process import scheduling


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux alone has it")
def test_a_thread_and_those_it_starts_interrupt_nobody():
    def policies() -> tuple[int, int]:
        scheduling.finish_turns()
        with ThreadPoolExecutor(1) as started:
            return os.sched_getscheduler(0), started.submit(os.sched_getscheduler, 0).result()

    with ThreadPoolExecutor(1) as own:
        assert own.submit(policies).result() == (os.SCHED_BATCH, os.SCHED_BATCH)
    assert os.sched_getscheduler(0) != os.SCHED_BATCH
