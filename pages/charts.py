"""Charts as SVG from the server: geometry here, colours by class in the stylesheet, drawn by `pages/chart.html`.

A chart says nothing that a table beneath it does not say: pages put one there, in `<details>`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

GAP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One part of a column, in units of the view box; `tone` names its colour."""

    x: int
    y: float
    width: int
    height: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`points` as SVG's polyline takes them."""

    name: str
    points: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """All bars of one tone as one path: a tenth of their weight, without a title for each."""

    tone: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What the template draws. `id` is unique on its page."""

    id: str
    title: str
    description: str
    width: int
    height: int
    bars: tuple[Bar, ...]
    lines: tuple[Line, ...] = ()

    @property
    def shapes(self) -> tuple[Shape, ...]:
        tones = dict.fromkeys(bar.tone for bar in self.bars)
        return tuple(
            Shape(tone=tone, path="".join(_outline(bar) for bar in self.bars if bar.tone == tone)) for tone in tones
        )


def _outline(bar: Bar) -> str:
    return f"M{bar.x} {bar.y}h{bar.width}v{bar.height}h-{bar.width}z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One place on the x axis: its label, and the amount of each tone, from the bottom up. `title` is what its bars
    say, where amounts are no counts."""

    label: str
    parts: Mapping[str, int]
    title: str = ""


def stacked(
    chart_id: str,
    columns: Sequence[Column],
    *,
    title: str,
    description: str,
    lines: Mapping[str, Sequence[float | None]] | None = None,
    step: int = 12,
    height: int = 60,
) -> Chart:
    """Stacked columns, and lines over them on one scale of their own; a line is interrupted where it has no value."""
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


def _stack(column: Column, place: int, step: int, height: int, highest: int) -> Iterator[Bar]:
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
    """The points of each unbroken stretch."""
    runs: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            runs.append([])
            continue
        runs[-1].append(f"{place * step + step // 2},{round(height - value / highest * height, 1)}")
    return [" ".join(run) for run in runs if len(run) > 1]
