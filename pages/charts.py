"""Geometry of SVG charts; `pages/chart.html` draws them, and the stylesheet colours them by class.

Pages put a table with the data of each chart below it, in `<details>`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

GAP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Part of a column, in units of the view box; `tone` names its colour."""

    x: int
    y: float
    width: int
    height: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Line of a chart; `points` are in the notation of SVG's polyline."""

    name: str
    points: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartShape:
    """All bars of one tone as one path: a tenth of their size, without titles."""

    tone: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Chart for the template; `id` is unique on its page."""

    id: str
    title: str
    description: str
    width: int
    height: int
    bars: tuple[Bar, ...]
    lines: tuple[Line, ...] = ()

    @property
    def shapes(self) -> tuple[ChartShape, ...]:
        tones = dict.fromkeys(bar.tone for bar in self.bars)
        return tuple(
            ChartShape(tone=tone, path="".join(_outline(bar) for bar in self.bars if bar.tone == tone))
            for tone in tones
        )


def _outline(bar: Bar) -> str:
    return f"M{bar.x} {bar.y}h{bar.width}v{bar.height}h-{bar.width}z"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartColumn:
    """Column of a chart: label, and amounts by tone from the bottom up. `title` is the text of its bars if amounts are
    no counts."""

    label: str
    parts: Mapping[str, int]
    title: str = ""


def stacked(
    chart_id: str,
    columns: Sequence[ChartColumn],
    *,
    title: str,
    description: str,
    lines: Mapping[str, Sequence[float | None]] | None = None,
    step: int = 12,
    height: int = 60,
) -> Chart:
    """Build stacked columns, and lines on their own scale; a line is interrupted where it has no value."""
    highest = max((sum(column.parts.values()) for column in columns), default=0) or 1
    values_of = lines or {}
    top = max((value for values in values_of.values() for value in values if value is not None), default=0) or 1
    return Chart(
        id=chart_id,
        title=title,
        description=description,
        width=max(len(columns), 1) * step,
        height=height,
        bars=tuple(bar for place, column in enumerate(columns) for bar in _stack(column, place, step, height, highest)),
        lines=tuple(
            Line(name=name, points=points)
            for name, values in values_of.items()
            for points in _runs(values, step, height, top)
        ),
    )


def _stack(column: ChartColumn, place: int, step: int, height: int, highest: int) -> Iterator[Bar]:
    total, below = sum(column.parts.values()), 0
    for tone, amount in column.parts.items():
        if not amount:
            continue
        below += amount
        yield Bar(
            x=place * step,
            y=round(height - below / highest * height, 2),
            width=step - GAP,
            height=round(amount / highest * height, 2),
            tone=tone,
            title=column.title or f"{column.label}: {amount} of {total} {tone}",
        )


def _runs(values: Sequence[float | None], step: int, height: int, highest: float) -> list[str]:
    """Build the points of each uninterrupted part of a line."""
    runs: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            runs.append([])
            continue
        runs[-1].append(f"{place * step + step // 2},{round(height - value / highest * height, 1)}")
    return [" ".join(run) for run in runs if len(run) > 1]
