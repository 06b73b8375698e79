"""How long tasks took, of the counts in buckets that figures have. Pure."""

from collections.abc import Iterable, Sequence

from tasks.figures.sums import BOUNDS

NONE = (0,) * (len(BOUNDS) + 1)


def added(counts: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """The counts of several figures together."""
    return tuple(map(sum, zip(NONE, *counts, strict=True)))


def quantile(counts: Sequence[int], share: float) -> float | None:
    """The seconds that this share of the tasks took at most, as if those of a bucket were spread evenly over it; None
    without tasks. Of the last bucket only its beginning is known."""
    wanted = share * sum(counts)
    if not wanted:
        return None
    for number, count in enumerate(counts):
        if count >= wanted and number < len(BOUNDS):
            begin = BOUNDS[number - 1] if number else 0
            return round(begin + (BOUNDS[number] - begin) * wanted / count, 2)
        wanted -= count
    return float(BOUNDS[-1])
