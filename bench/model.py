"""Terms of the benchmark: a row has goals, and contenders that run in turn; each run yields a sample of figures."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

OURS = "ours"
"""The measured contender; all others of a row are its references."""


class Missing(Exception):
    """A tool, a peer or an ability of the machine is missing; the message names it. Whatever needs it is skipped."""


class Incorrect(Exception):
    """A run was wrong: rows disagree, an answer was not 2xx, a plan scans a table. The row has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """Requests to send: a method, a path for each request in turn, a body, and an Authorization for each in turn.

    With `is_unique` each request has an Idempotency-Key of its own.
    """

    url: str
    method: str = "GET"
    paths: tuple[str, ...]
    body: str = ""
    authorizations: tuple[str, ...]
    is_unique: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Results of a load. `refused` counts answers other than 2xx, and connection errors."""

    answered: int
    refused: int
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def rate(self) -> float:
        return self.answered / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Figures of one contender's run by name, such as rate (per second), p50_ms, p99_ms, cpu_ms."""

    figures: Mapping[str, float]


Contender = Callable[[], Sample]
"""Runs once for a few seconds. Raises Missing (the contender is left out from then on) and Incorrect."""

Contest = Mapping[str, Contender]
"""The contenders by name, in the order in which each round runs them. OURS is one of them."""

Round = Mapping[str, Sample]
"""Samples of one round, by contender, without skipped ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A bound on one of our figures: on the figure itself, in `unit`, or on its ratio to a reference's figure in the
    same round.

    Exactly one of `at_least` and `at_most` is given. `against` may be OURS, to compare two figures of ours.
    """

    figure: str
    against: str | None = None
    against_figure: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "×"
    is_stretch: bool = False

    @property
    def reference(self) -> str:
        """Returns the reference's name for the table."""
        if self.against is None:
            return "–"
        named = "" if self.against_figure in (None, self.figure) else f" {self.against_figure}"
        return f"{self.against}{named}"

    @property
    def bound(self) -> str:
        """Returns the goal in short."""
        number = self.at_most if self.at_least is None else self.at_least
        sign = "≤" if self.at_least is None else "≥"
        return f"{sign} {number:g} {self.unit}{' (stretch)' if self.is_stretch else ''}"

    def is_met(self, value: float) -> bool:
        return value >= self.at_least if self.at_least is not None else value <= (self.at_most or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRow:
    """One measurement.

    `contest` is a context manager that starts what the contenders need, yields them, and stops it. It raises Missing if
    the row cannot run at all. `quick_seconds` is the row's rough duration with --quick. `anchor` names a contender
    whose rate shows whether the machine was steady, if the goals have no reference. `rounds` limits the rounds of long
    rows. `peers` maps the environments that it needs to their requirements. With `waits`, the row mostly waits and may
    run beside others of this kind.
    """

    name: str
    what: str
    goals: tuple[Goal, ...]
    quick_seconds: int
    contest: Callable[[Any], AbstractContextManager[Contest]]
    anchor: str | None = None
    rounds: int | None = None
    peers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    waits: bool = False

    @property
    def is_compared(self) -> bool:
        """Tells whether the row is compared with references, and so needs an idle machine."""
        return bool(self.peers) or any(goal.against for goal in self.goals)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowResult:
    """Rounds of a row. `skipped` or `failed` says why there are none; `missing` maps contenders that were left out to
    what they lacked."""

    name: str
    rounds: tuple[Round, ...] = ()
    skipped: str = ""
    failed: str = ""
    missing: Mapping[str, str] | None = None
