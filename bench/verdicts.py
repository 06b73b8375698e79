"""Judges rounds: ratios within each round, their median and spread, and whether a goal is met. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.model import OURS, BenchRow, Goal, Round, RowResult

LARGEST_SPREAD = 2.0
"""Beyond this spread of the reference's own figure between rounds, nothing is concluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalVerdict:
    """Verdict on one goal of one row. `value` is the bounded value, as median, least and most over the rounds; `figure`
    and `reference` are medians of its parts. `word` is pass, miss, unsure, failed or skipped, with the reason."""

    goal: Goal
    word: str
    figure: float | None = None
    reference: float | None = None
    value: float | None = None
    least: float | None = None
    most: float | None = None


def spread(figures: Sequence[float]) -> float:
    """Returns the largest over the smallest; 1 for none."""
    return max(figures) / min(figures) if figures and min(figures) > 0 else 1.0


def figures_of(rounds: Sequence[Round], contender: str, figure: str) -> list[float]:
    """Returns the figure of each round that has it."""
    return [r[contender].figures[figure] for r in rounds if contender in r and figure in r[contender].figures]


def values_of(goal: Goal, rounds: Sequence[Round]) -> list[float]:
    """Returns the bounded values of all rounds that have both sides: the figure itself or its ratio."""
    if goal.against is None:
        return figures_of(rounds, OURS, goal.figure)
    values = []
    for one in rounds:
        ours = figures_of([one], OURS, goal.figure)
        theirs = figures_of([one], goal.against, goal.against_figure or goal.figure)
        if ours and theirs and theirs[0]:
            values.append(ours[0] / theirs[0])
    return values


def is_unsteady(row: BenchRow, goal: Goal, rounds: Sequence[Round]) -> bool:
    """Tells whether the reference, or the row's anchor, varied too much for a conclusion."""
    consulted = [figures_of(rounds, row.anchor, "rate")] if row.anchor else []
    if goal.against not in (None, OURS):
        consulted.append(figures_of(rounds, str(goal.against), goal.against_figure or goal.figure))
    return any(spread(figures) > LARGEST_SPREAD for figures in consulted)


def judge(row: BenchRow, goal: Goal, result: RowResult) -> GoalVerdict:
    """Judges one goal."""
    if result.failed or result.skipped:
        return GoalVerdict(
            goal=goal, word=f"failed: {result.failed}" if result.failed else f"skipped: {result.skipped}"
        )
    values = values_of(goal, result.rounds)
    if not values:
        lacking = (result.missing or {}).get(goal.against or OURS, f"{goal.against or OURS} {goal.figure}")
        return GoalVerdict(goal=goal, word=f"skipped: {lacking}")
    theirs = figures_of(result.rounds, goal.against, goal.against_figure or goal.figure) if goal.against else []
    middle = median(values)
    unsteady = is_unsteady(row, goal, result.rounds)
    return GoalVerdict(
        goal=goal,
        word="unsure" if unsteady else "pass" if goal.is_met(middle) else "miss",
        figure=median(figures_of(result.rounds, OURS, goal.figure)),
        reference=median(theirs) if theirs else None,
        value=middle,
        least=min(values),
        most=max(values),
    )
