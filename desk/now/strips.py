"""Figures of the last day: a strip per model, the last hour, and today. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from pages import charts
from pages.charts import Chart, ChartColumn
from tasks.figures import durations
from tasks.figures.reading import Figure
from tasks.models import ENDED

HOURS = 24
SHOWN = 8
"""Number of models with a strip: those with the most tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Sums of ended tasks: counts by outcome, money in micro-USD, and seconds to success (None without one)."""

    outcomes: Mapping[str, int]
    earned_micros: int
    cost_micros: int
    p50: float | None
    p95: float | None

    @property
    def tasks(self) -> int:
        return sum(self.outcomes.values())

    @property
    def succeeded(self) -> int:
        return self.outcomes["succeeded"]

    @property
    def judged(self) -> int:
        """Count the tasks that could have succeeded, so without canceled ones."""
        return self.tasks - self.outcomes["canceled"]

    @property
    def rate(self) -> int | None:
        """Compute the success rate in percent, rounded down so that 100 means all."""
        return 100 * self.succeeded // self.judged if self.judged else None

    @property
    def margin(self) -> int | None:
        """Compute the margin in percent of earnings."""
        return round(100 * (self.earned_micros - self.cost_micros) / self.earned_micros) if self.earned_micros else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """Hour of a strip: a column of its chart and a row of its table."""

    at: datetime
    sums: Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStrip:
    """Last day of one model; `model_id` is None for a deleted model."""

    model_id: int | None
    model: str
    modality: str
    total: Sums
    hours: tuple[Hour, ...]
    chart: Chart


def first_hour(now: datetime) -> datetime:
    """Compute the start of the strips, which have HOURS columns including the current hour and cover the UTC day."""
    return whole_hour(now) - timedelta(hours=HOURS - 1)


def whole_hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def summed(figures: Iterable[Figure]) -> Sums:
    found = list(figures)
    outcomes = dict.fromkeys(ENDED, 0)
    for figure in found:
        outcomes[figure.outcome] += figure.tasks
    took = durations.added(figure.durations for figure in found if figure.outcome == "succeeded")
    return Sums(
        outcomes=outcomes,
        earned_micros=sum(figure.earned_micros for figure in found),
        cost_micros=sum(figure.cost_micros for figure in found),
        p50=durations.quantile(took, 0.5),
        p95=durations.quantile(took, 0.95),
    )


def since(figures: Iterable[Figure], moment: datetime) -> list[Figure]:
    return [figure for figure in figures if _moment(figure) >= moment]


def strips(
    figures: Sequence[Figure], now: datetime, ids: Mapping[tuple[str, str], int]
) -> tuple[tuple[ModelStrip, ...], int]:
    """Build a strip for each of the busiest models, and count further models; `ids` are by name and modality."""
    by_model: dict[tuple[str, str], list[Figure]] = {}
    for figure in figures:
        by_model.setdefault((figure.model, figure.modality), []).append(figure)
    ranked = sorted(by_model.items(), key=lambda each: (-sum(figure.tasks for figure in each[1]), each[0]))
    shown = [_strip(number, ids.get(names), *names, found, now) for number, (names, found) in enumerate(ranked[:SHOWN])]
    return tuple(shown), len(ranked) - len(shown)


def _strip(
    number: int, model_id: int | None, model: str, modality: str, figures: Sequence[Figure], now: datetime
) -> ModelStrip:
    by_hour: dict[datetime, list[Figure]] = {}
    for figure in figures:
        by_hour.setdefault(whole_hour(_moment(figure)), []).append(figure)
    begin = first_hour(now)
    moments = [begin + timedelta(hours=place) for place in range(HOURS)]
    hours = [Hour(at=at, sums=summed(by_hour.get(at, ()))) for at in moments]
    total = summed(figures)
    return ModelStrip(
        model_id=model_id,
        model=model,
        modality=modality,
        total=total,
        hours=tuple(hour for hour in reversed(hours) if hour.sums.tasks),
        chart=charts.stacked(
            f"strip-{number}",
            [ChartColumn(label=f"{hour.at:%H:%M}", parts=hour.sums.outcomes) for hour in hours],
            title=f"{model} in the last 24 hours",
            description=f"{total.succeeded} of {total.tasks} tasks succeeded. The table shows each hour.",
            lines={"p50": [hour.sums.p50 for hour in hours], "p95": [hour.sums.p95 for hour in hours]},
        ),
    )


def _moment(figure: Figure) -> datetime:
    return figure.at if isinstance(figure.at, datetime) else datetime.combine(figure.at, time.min, UTC)


def usual_waits(figures: Iterable[Figure]) -> dict[tuple[str, str], float]:
    """Compute mean seconds before the first start, by (model, modality)."""
    sums: dict[tuple[str, str], list[int]] = {}
    for figure in figures:
        counts = sums.setdefault((figure.model, figure.modality), [0, 0])
        counts[0] += figure.waited_ms
        counts[1] += figure.tasks
    return {names: waited / tasks / 1000 for names, (waited, tasks) in sums.items() if tasks}
