"""Totals of all time that `/metrics` shows, without reading whole tables at each scrape."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from common import sql


@dataclass(slots=True, kw_only=True)
class RunningTotal:
    """A sum over a table that only grows, by its labels. What is older than `settles_seconds` neither changes nor
    appears any more: it is counted once and remembered."""

    table: str
    labels: tuple[str, ...]
    value: str
    at: str
    where: str
    settles_seconds: int
    _mark: int = 0
    _settled: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def totals(self) -> dict[tuple[Any, ...], int]:
        settled = sql.value(
            f"SELECT max(id) FROM {self.table} WHERE id > %s AND {self.at} < {sql.later('-1 * %s')}",
            [self._mark, self.settles_seconds],
        )
        if settled:
            self._settled = merged(self._settled, self._between(self._mark, settled))
            self._mark = settled
        return merged(self._settled, self._between(self._mark, 2**62))

    def _between(self, after: int, until: int) -> list[tuple[Any, ...]]:
        labels = ", ".join(self.labels)
        select = f"SELECT {labels}, {self.value} FROM {self.table}"
        return sql.fetch(f"{select} WHERE id > %s AND id <= %s AND {self.where} GROUP BY {labels}", [after, until])


def merged(totals: dict[tuple[Any, ...], int], rows: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    """The totals with further rows added, of the labels and a number each."""
    sums = dict(totals)
    for *labels, value in rows:
        sums[tuple(labels)] = sums.get(tuple(labels), 0) + int(value)
    return sums


transitions = RunningTotal(
    table="tasks_taskevent",
    labels=("status",),
    value="count(*)",
    at="at",
    where="1 = 1",
    settles_seconds=60,
)
calls = RunningTotal(
    table="tasks_call",
    labels=("channel_id", "state"),
    value="count(*)",
    at="created_at",
    where="state NOT IN ('accepted', 'late', 'unknown')",
    settles_seconds=86_400,
)
charges = RunningTotal(
    table="billing_ledgerentry",
    labels=("kind",),
    value="sum(amount_micros)",
    at="at",
    where="kind = 'charge' AND book = 'revenue'",
    settles_seconds=60,
)
