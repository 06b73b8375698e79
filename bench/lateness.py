"""Measures how late polls come: each is due a fixed time after the one before it was answered. Pure."""

from collections.abc import Iterable, Sequence
from math import ceil


def percentile(values: Iterable[float], share: float) -> float:
    """Returns the smallest value that at least this share of the values does not exceed; 0.0 of none."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * share) - 1)] if ordered else 0.0


class Polls:
    """Records each job's polls. Times are seconds of one clock."""

    def __init__(self, every: float) -> None:
        self.every = every
        self.count = 0
        self._last: dict[str, float] = {}
        self._late: list[float] = []

    def note(self, jobs: Sequence[str], at: float) -> None:
        """Records a poll of these jobs, answered at once."""
        self.count += len(jobs)
        for job in jobs:
            before = self._last.get(job)
            if before is not None:
                self._late.append(at - before - self.every)
            self._last[job] = at

    def judge_from_now(self) -> None:
        """Drops the lateness recorded so far; due polls stay due."""
        self._late.clear()

    def forget(self, jobs: Iterable[str]) -> None:
        """Expects no further polls of these jobs."""
        for job in jobs:
            self._last.pop(job, None)

    def report(self, now: float) -> dict[str, float]:
        """Returns counts and lateness; a poll that is overdue counts with its lateness so far."""
        overdue = [now - last - self.every for last in self._last.values() if now > last + self.every]
        late = [*self._late, *overdue]
        return {
            "jobs": len(self._last),
            "polls": self.count,
            "judged": len(late),
            "late_p50": max(0.0, percentile(late, 0.5)),
            "late_p99": max(0.0, percentile(late, 0.99)),
            "late_max": max(0.0, *late) if late else 0.0,
        }
