"""Earnings and costs of models and channels in a span of UTC days, read from aggregated figures of tasks and relayed
calls."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from catalog.models import Channel
from common import sql
from tasks.figures import reading
from tasks.figures.reading import Figure

GONE = "no channel, or a deleted one"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginRow:
    """Margin of a model or channel, money in micro-USD. `channel_id` is set for an existing channel."""

    name: str
    tasks: int
    earned_micros: int
    cost_micros: int
    channel_id: int | None = None

    @property
    def margin_micros(self) -> int:
        return self.earned_micros - self.cost_micros

    @property
    def margin_percent(self) -> int | None:
        """Compute the margin in percent of earnings; None without earnings."""
        return round(100 * self.margin_micros / self.earned_micros) if self.earned_micros else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedRow:
    """Settled relayed calls of one model, whose own cost is unknown."""

    model: str
    calls: int
    earned_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """Margins of a span; `is_behind` while the figures of tasks are catching up."""

    total: MarginRow
    models: tuple[MarginRow, ...]
    channels: tuple[MarginRow, ...]
    relayed: tuple[RelayedRow, ...]
    is_behind: bool

    @property
    def relayed_micros(self) -> int:
        return sum(row.earned_micros for row in self.relayed)

    @property
    def is_empty(self) -> bool:
        return not self.total.tasks and not self.relayed


def read(since: date, until: date) -> Margins:
    """Read the margins of a span of days, both ends included."""
    figures = reading.days(since, until)
    names = dict(Channel.objects.values_list("id", "name"))
    channels = _grouped(figures, lambda figure: (names.get(figure.channel_id or 0, GONE), figure.channel_id))
    return Margins(
        total=next(iter(_grouped(figures, lambda figure: ("", None))), _row(("", None), [])),
        models=tuple(_grouped(figures, lambda figure: (figure.model, None))),
        channels=tuple(channels),
        relayed=tuple(relayed(since, until)),
        is_behind=reading.is_behind(),
    )


def _grouped(figures: Iterable[Figure], name: Callable[[Figure], tuple[str, int | None]]) -> list[MarginRow]:
    """Group figures by name, the highest earnings first."""
    groups: dict[tuple[str, int | None], list[Figure]] = {}
    for figure in figures:
        groups.setdefault(name(figure), []).append(figure)
    rows = [_row(key, found) for key, found in groups.items()]
    return sorted(rows, key=lambda row: (-row.earned_micros, -row.cost_micros, row.name))


def _row(key: tuple[str, int | None], figures: list[Figure]) -> MarginRow:
    return MarginRow(
        name=key[0],
        channel_id=key[1],
        tasks=sum(figure.tasks for figure in figures),
        earned_micros=sum(figure.earned_micros for figure in figures),
        cost_micros=sum(figure.cost_micros for figure in figures),
    )


def relayed(since: date, until: date) -> list[RelayedRow]:
    """Read relayed calls by the day on which they began."""
    rows = sql.fetch(RELAYED, [since.isoformat(), until.isoformat()])
    return [RelayedRow(model=model, calls=int(calls), earned_micros=int(micros)) for model, calls, micros in rows]


# Joined by key, as the sums are indexed by key.
RELAYED = """
SELECT u.model, sum(u.calls), sum(u.cost_micros)
FROM accounts_apikey k JOIN billing_relayusage u ON u.key_id = k.id AND u.day >= %s AND u.day <= %s
WHERE k.binding = 'general' GROUP BY 1 ORDER BY 3 DESC, 1
"""
