"""Processes under SIGSTOP at random moments, on SQLite: whoever has no transaction open then holds up nobody."""

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from tests.common.sqlite.lines import is_writing, stop
from tests.faults.scenes import ended, serving
from tests.worker.driving import film, picture

pytestmark = [
    pytest.mark.soak,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(sys.platform != "linux", reason="who has a lock is not known without /proc/locks"),
]
ROUNDS = 20


@contextmanager
def stopped(process: int) -> Iterator[int]:
    """A process under SIGSTOP."""
    stop(process)
    try:
        yield process
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.mark.parametrize("seed", range(2))
def test_a_stopped_worker_or_web_process_keeps_no_command_from_its_answer(start_worker, start_web, crew, key, seed):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL knows by itself who waits for whom")
    chance, file = random.Random(seed), Path(connection.settings_dict["NAME"])
    web = start_web()
    busy = [start_worker().process.pid, start_worker().process.pid, serving(web).pid]
    crew.manage("create_account", "others")
    tasks: list[str] = []
    answered = 0
    while answered < ROUNDS:
        tasks += [film(key, f"hen {len(tasks)}", duration=1), picture(key, f"fox {len(tasks)}")]
        time.sleep(chance.uniform(0, 0.05))
        with stopped(chance.choice(busy)) as process:
            if not is_writing(process, file):
                assert crew.manage_json("create_key", "others")["key"]
                answered += 1
    assert set(ended(*tasks)) == {"succeeded"}
