"""Prints the table: a line for each goal of each row. Pure."""

from collections.abc import Iterable
from statistics import median

from bench.model import BenchRow, RowResult
from bench.verdicts import GoalVerdict, figures_of, judge

HEADINGS = ("row", "figure", "reference", "ratio (least–most)", "goal", "verdict")


def number(value: float | None) -> str:
    """Formats a number with three significant digits, thousands with commas."""
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cells(row: BenchRow, verdict: GoalVerdict) -> tuple[str, ...]:
    goal = verdict.goal
    ratio = "–" if verdict.value is None else number(verdict.value)
    if verdict.least is not None and verdict.least != verdict.most:
        ratio = f"{ratio} ({number(verdict.least)}–{number(verdict.most)})"
    reference = "–" if goal.against is None else f"{goal.reference} {number(verdict.reference)}"
    return row.name, f"{goal.figure} {number(verdict.figure)}", reference, ratio, goal.bound, verdict.word


def medians(result: RowResult) -> dict[str, list[str]]:
    """Returns each contender's figures, as `name median`."""
    found: dict[str, list[str]] = {}
    for contender in dict.fromkeys(name for one in result.rounds for name in one):
        names = dict.fromkeys(f for one in result.rounds if contender in one for f in one[contender].figures)
        found[contender] = [f"{name} {number(median(figures_of(result.rounds, contender, name)))}" for name in names]
    return found


def lines_of(pairs: Iterable[tuple[BenchRow, RowResult]]) -> list[tuple[str, ...]]:
    return [cells(row, judge(row, goal, result)) for row, result in pairs for goal in row.goals]


def text(pairs: Iterable[tuple[BenchRow, RowResult]]) -> str:
    """Formats pairs in columns as wide as needed."""
    lines = [HEADINGS, *lines_of(pairs)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
