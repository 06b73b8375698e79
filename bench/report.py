"""`python -m bench.report`: rewrites the tables between the markers of docs/performance.md, and the chart beside it.

Source: bench/results/before.json and after.json.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import charts, results, rows, table
from bench.charts import Bars
from bench.model import BenchRow, Goal, RowResult
from bench.verdicts import GoalVerdict, judge
from tools.stack import ROOT

DOCUMENT = ROOT / "docs" / "performance.md"
CHART = ROOT / "docs" / "performance.svg"
RESULTS = ROOT / "bench" / "results"
STATES = ("before", "after")
HEADINGS = ("row", "figure", "reference", "goal", *STATES)


def found(state: str) -> dict[str, RowResult]:
    """Reads all result files of this state, by prefix."""
    return {name: result for path in files(state) for name, result in results.read(path).items()}


def files(state: str) -> list[Path]:
    return sorted(RESULTS.glob(f"{state}*.json"))


def verdict(row: BenchRow, goal: Goal, state: Mapping[str, RowResult]) -> GoalVerdict | None:
    return judge(row, goal, state[row.name]) if row.name in state else None


def cell(verdict: GoalVerdict | None) -> str:
    """Returns the value, its spread and the verdict."""
    if verdict is None:
        return "–"
    if verdict.value is None:
        return verdict.word
    spread = f" ({table.number(verdict.least)}–{table.number(verdict.most)})" if verdict.least != verdict.most else ""
    return f"**{table.number(verdict.value)}**{spread} {verdict.word}"


def markdown(every: list[BenchRow], states: Mapping[str, Mapping[str, RowResult]]) -> str:
    lines = [f"| {' | '.join(HEADINGS)} |", "|---" * len(HEADINGS) + "|"]
    for row in every:
        for goal in row.goals:
            values = [cell(verdict(row, goal, states[state])) for state in STATES]
            cells = [f"`{row.name}`", goal.figure, goal.reference, goal.bound, *values]
            lines.append(f"| {' | '.join(text.replace('|', '/') for text in cells)} |")
    return "\n".join(lines)


def figures(every: list[BenchRow], states: Mapping[str, Mapping[str, RowResult]]) -> str:
    """Returns all figures of all contenders, as medians."""
    lines = ["| row | contender | before | after |", "|---|---|---|---|"]
    for row in every:
        by_state = {state: table.medians(states[state][row.name]) for state in STATES if row.name in states[state]}
        for contender in dict.fromkeys(name for medians in by_state.values() for name in medians):
            shown = [", ".join(by_state.get(state, {}).get(contender, ["–"])) for state in STATES]
            lines.append(f"| `{row.name}` | {contender} | {' | '.join(shown)} |")
    return "\n".join(lines)


def meanings(every: list[BenchRow]) -> str:
    return "\n".join(f"- `{row.name}`: {row.what}." for row in every)


def provenance() -> str:
    lines = []
    for path in [path for state in STATES for path in files(state)]:
        stored: dict[str, Any] = json.loads(path.read_text())
        versions = ", ".join(f"{name} {version}" for name, version in sorted(stored["versions"].items()))
        lines.append(f"- {path.stem}: {stored['date']}, {stored['machine']}; {versions}.")
    return "\n".join(lines)


def share(verdict: GoalVerdict | None) -> float | None:
    """Returns the share of the goal; inverted for an upper bound, so that longer is always better."""
    if verdict is None or not verdict.value:
        return None
    goal = verdict.goal
    return verdict.value / goal.at_least if goal.at_least else (goal.at_most or 0) / verdict.value


def bars(every: list[BenchRow], states: Mapping[str, Mapping[str, RowResult]]) -> list[Bars]:
    groups = []
    for row in every:
        for goal in row.goals:
            shares = {state: share(verdict(row, goal, states[state])) for state in STATES}
            known = {state: value for state, value in shares.items() if value is not None}
            if known and not goal.is_stretch:
                against = f" / {goal.reference}" if goal.against else ""
                groups.append(Bars(label=f"{row.name}: {goal.figure}{against}", shares=known))
    return groups


def replaced(text: str, marker: str, content: str) -> str:
    """Replaces the text between the markers. Raises ValueError if they are missing."""
    pattern = re.compile(rf"(<!-- {marker} -->\n).*?(<!-- end of {marker} -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"markers of {marker} are missing")
    return pattern.sub(lambda match: f"{match[1]}{content}\n{match[2]}", text)


def write(document: Path, chart: Path) -> None:
    every, states = rows.every(), {state: found(state) for state in STATES}
    text = document.read_text()
    for marker, content in (
        ("provenance", provenance()),
        ("rows", meanings(every)),
        ("goals", markdown(every, states)),
        ("figures", figures(every, states)),
    ):
        text = replaced(text, marker, content)
    document.write_text(text)
    chart.write_text(charts.draw("Each goal, before and after, as a share of the goal", bars(every, states)))


if __name__ == "__main__":
    write(DOCUMENT, CHART)
