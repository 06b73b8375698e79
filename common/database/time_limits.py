"""How long the database may hold up a web process: its connections are opened with these limits.

Workers and commands have none: what a provider answered waits for as long as the database takes.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """Limits in seconds.

    `statement`: of one statement. `lock`: of the wait for one lock, also that of a commit; who has waited for others
    before has what is left of it (`lock_left`). `silence`: between two statements of a
    transaction. `answer`: from a statement to its answer, where the server is frozen or away and cancels nothing.
    """

    statement: float = 10.0
    lock: float = 10.0
    silence: float = 10.0
    answer: float = 12.0


WEB = TimeLimits()
GROUP_LOCK_SECONDS = 2.0
"""The longest wait for one lock in a joint write of several accounts; after that each account is written alone."""

of_process: TimeLimits | None = None
"""What the next connections of this process are opened with."""


def hold_for_web() -> None:
    """This is a web process, and has no connection yet."""
    global of_process
    of_process = WEB


def lock_left(waited: float) -> float | None:
    """The seconds that a web request which has waited so long may still wait for a lock; None where the limit of its
    connection will do."""
    if of_process is None or waited < of_process.lock / 10:
        return None
    return max(of_process.lock - waited, of_process.lock / 10)
