"""How the threads of a process share the machine's cores. Linux alone has this; a container may forbid it."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

THREADS = Path("/proc/self/task")
STATUS = Path("/proc/self/stat")
CORE_FIELD = 36
"""Of STATUS, behind the name of the program: the core that the main thread ran on last (proc(5), `processor`)."""


def finish_turns() -> None:
    """From now on the calling thread, and those that it starts, do not interrupt another's turn when they wake up.
    Where all cores are busy they wait for its end, some milliseconds.

    Else processes that talk much, as ours with the database, interrupt each other at each message, and a thread that
    loses its turn keeps the interpreter from the others (SCHED_BATCH).
    """
    if hasattr(os, "SCHED_BATCH"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


class OneCore:
    """Keeps the threads of this process on one core, which the kernel chooses.

    One of them at a time has the interpreter. On several cores each hand-over of it wakes up another core, and that
    takes longer than what is then done there: on one core a relayed chat costs a quarter less. Between `release` and
    `gather` the kernel may move the process to a core that has less to do.
    """

    def __init__(self) -> None:
        self._cores: Collection[int] = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()

    def release(self) -> None:
        """Let the threads run on all cores that the process may use."""
        if len(self._cores) > 1:
            allow(self._cores)

    def gather(self) -> None:
        """Keep the threads on the core that the main thread is on."""
        if len(self._cores) > 1:
            with suppress(OSError):
                allow({int(STATUS.read_text().rpartition(")")[2].split()[CORE_FIELD])})


def allow(cores: Collection[int]) -> None:
    """Let every thread of this process run on these cores, and those that they start."""
    for thread in os.listdir(THREADS):
        with suppress(OSError):  # the thread has ended
            os.sched_setaffinity(int(thread), cores)
