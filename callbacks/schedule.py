"""When the next attempt of a delivery is due. Pure; `deliveries` stores it, and the documents tell of `DEFAULT`."""

import random

DEFAULT = (0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000)
LONGEST_SECONDS = 7 * 86_400
MOST_ATTEMPTS = 50
JITTER = 0.2
UNITS = ((3_600, "hour"), (60, "minute"), (1, "second"))


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


def spelled(schedule: tuple[int, ...]) -> str:
    """A schedule as `parse` reads it."""
    return ",".join(map(str, schedule))


def in_words(schedule: tuple[int, ...]) -> str:
    """The waits of a schedule that begins at once: `at once, then after 5 seconds, 5 minutes and 2 hours`."""
    *waits, last = map(_span, schedule[1:])
    return f"at once, then after {', '.join(waits)} and {last}"


def _span(seconds: int) -> str:
    """The largest unit of which it is a whole number."""
    size, unit = next((size, unit) for size, unit in UNITS if seconds % size == 0)
    return f"{seconds // size} {unit}{'s' if seconds != size else ''}"


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
