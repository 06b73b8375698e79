"""How late polls come: each is due so many seconds after the one before it was answered. Pure."""

from collections.abc import Iterable, Sequence
from math import ceil


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least this share of them does not exceed; 0.0 of none."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * share) - 1)] if ordered else 0.0


class Polls:
    """The polls of each job, as they come. Moments are seconds of one clock."""

    def __init__(self, every: float) -> None:
        self.every = every
        self.count = 0
        self._last: dict[str, float] = {}
        self._late: list[float] = []

    def note(self, jobs: Sequence[str], at: float) -> None:
        """These jobs are asked for, and answered at once."""
        self.count += len(jobs)
        for job in jobs:
            before = self._last.get(job)
            if before is not None:
                self._late.append(at - before - self.every)
            self._last[job] = at

    def judge_from_now(self) -> None:
        """Leave out how late polls came so far; what is due stays due."""
        self._late.clear()

    def forget(self, jobs: Iterable[str]) -> None:
        """No further poll of these is due."""
        for job in jobs:
            self._last.pop(job, None)

    def report(self, now: float) -> dict[str, float]:
        """What came, and how late; a poll that is due and has not come counts with what it is late already."""
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
