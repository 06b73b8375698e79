"""How the threads of a process take their turns on the machine's cores."""

import os
from contextlib import suppress


def finish_turns() -> None:
    """From now on the calling thread, and those that it starts, do not interrupt another's turn when they wake up.
    Where all cores are busy they wait for its end, some milliseconds.

    Else processes that talk much, as ours with the database, interrupt each other at each message, and a thread that
    loses its turn keeps the interpreter from the others. Only Linux has this (SCHED_BATCH); a container may forbid it.
    """
    if hasattr(os, "SCHED_BATCH"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
