"""When the next attempt of a delivery is due. Pure; `deliveries` stores it."""

import random

LONGEST_SECONDS = 7 * 86_400
MOST_ATTEMPTS = 50
JITTER = 0.2


def parse(text: str) -> tuple[int, ...]:
    """`0,5,300`: the seconds before each attempt, the first counted from the end of the task.

    Raises ValueError naming what is wrong.
    """
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit() and int(part[:9]) <= LONGEST_SECONDS and len(part) < 9):
            raise ValueError(f"{part!r} is not a whole number of seconds up to {LONGEST_SECONDS}")
    if len(parts) > MOST_ATTEMPTS:
        raise ValueError(f"{len(parts)} attempts are more than {MOST_ATTEMPTS}")
    return tuple(int(part) for part in parts)


def wait_seconds(schedule: tuple[int, ...], *, attempts: int, retry_after: float | None = None) -> float | None:
    """How long to wait after so many attempts; None when the schedule is over.

    Jittered by a fifth, so that deliveries which failed together do not come back together. A receiver's Retry-After
    is kept to between one and two steps; what it asks for within them is never undercut.
    """
    if attempts >= len(schedule):
        return None
    step = float(schedule[attempts])
    if retry_after is None:
        return random.uniform(step * (1 - JITTER), step * (1 + JITTER))
    asked = min(max(retry_after, step), 2 * step)
    return random.uniform(asked, min(asked * (1 + JITTER), 2 * step))
