"""The table: a line for each goal of each row, in text for a terminal and in Markdown for a document. Pure."""

from collections.abc import Iterable

from bench.model import Result, Row
from bench.verdicts import Verdict, judge

HEADINGS = ("row", "figure", "reference", "ratio (least–most)", "goal", "verdict")


def number(value: float | None) -> str:
    """Three significant digits, thousands with commas."""
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cells(row: Row, verdict: Verdict) -> tuple[str, ...]:
    goal = verdict.goal
    ratio = "–" if verdict.value is None else number(verdict.value)
    if verdict.least is not None and verdict.least != verdict.most:
        ratio = f"{ratio} ({number(verdict.least)}–{number(verdict.most)})"
    reference = "–" if goal.against is None else f"{goal.reference} {number(verdict.reference)}"
    return row.name, f"{goal.figure} {number(verdict.figure)}", reference, ratio, goal.bound, verdict.word


def lines_of(pairs: Iterable[tuple[Row, Result]]) -> list[tuple[str, ...]]:
    return [cells(row, judge(row, goal, result)) for row, result in pairs for goal in row.goals]


def text(pairs: Iterable[tuple[Row, Result]]) -> str:
    """Columns as wide as they must be."""
    lines = [HEADINGS, *lines_of(pairs)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
