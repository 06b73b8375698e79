"""Headline of the Live page."""

from collections.abc import Sequence

from console.live.finding import LiveRow
from pages import words


def counts(running: int, queued: int) -> str:
    """Count tasks in words: 2 run, 1 waits."""
    told = [f"{n} {verb}{'s' if n == 1 else ''}" for n, verb in ((running, "run"), (queued, "wait")) if n]
    return f"{', '.join(told)}." if told else "Nothing runs."


def sentence(running: int, queued: int, at_work: Sequence[LiveRow]) -> str:
    """Build the headline: the counts, and when the next result is expected."""
    told = counts(running, queued)
    expected = [(row.usual - row.elapsed, row.noun) for row in at_work if row.usual is not None]
    if not expected:
        return told
    ahead = [one for one in expected if one[0] > 0]
    if not ahead:
        return f"{told[:-1]}: the next {expected[-1][1]} is taking longer than usual."
    seconds, noun = min(ahead)
    return f"{told[:-1]}: the next {noun} in about {words.span(max(round(seconds), 1))}."
