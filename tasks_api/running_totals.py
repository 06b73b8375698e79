"""Totals of all time that `/metrics` shows, without reading whole tables at each scrape."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from common import sql
from tasks.paid_calls import CALL_TRANSITIONS

OVER = [state for state, following in CALL_TRANSITIONS.items() if not following]
Sums = dict[tuple[Any, ...], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What need not be read again: the sums over the rows up to the mark, but for the few, by id, that were still
    open."""

    mark: int = 0
    sums: Sums = field(default_factory=dict)
    open: frozenset[int] = frozenset()


@dataclass(slots=True, kw_only=True)
class RunningTotal:
    """A sum over a table that only grows, by its labels.

    No row appears any more below one that is older than `settles_seconds`. A row changes only while it is `open`, an
    SQL condition. So whatever is older and not open is counted once and remembered.
    """

    table: str
    labels: tuple[str, ...]
    value: str
    at: str
    where: str = "1 = 1"
    open: str = "1 = 0"
    settles_seconds: int = 60
    settled: Settled = field(default_factory=Settled)

    def totals(self) -> Sums:
        known = self._closed(self._marked(self.settled))
        self.settled = known  # all of it at once: a scrape that broke off before has changed nothing
        now_open = self._sums(f"id {sql.among('bigint')}", [sql.ids(known.open)]) if known.open else []
        return merged(merged(known.sums, self._sums("id > %s", [known.mark])), now_open)

    def _marked(self, known: Settled) -> Settled:
        """The mark moves over what is old enough. The open rows are read first: one that ends in between is looked at
        again, and so counted once."""
        mark = sql.value(
            f"SELECT max(id) FROM {self.table} WHERE id > %s AND {self.at} < {sql.later('-1 * %s')}",
            [known.mark, self.settles_seconds],
        )
        if mark is None:
            return known
        passed = [known.mark, mark]
        found = self._ids("id > %s AND id <= %s AND " + self.open, passed)
        ended = self._sums(f"id > %s AND id <= %s AND NOT id {sql.among('bigint')}", [*passed, sql.ids(found)])
        return Settled(mark=mark, sums=merged(known.sums, ended), open=known.open.union(found))

    def _closed(self, known: Settled) -> Settled:
        """Rows that were open and have ended are counted, once and for all."""
        if not known.open:
            return known
        ended = self._ids(f"id {sql.among('bigint')} AND NOT ({self.open})", [sql.ids(known.open)])
        sums = merged(known.sums, self._sums(f"id {sql.among('bigint')}", [sql.ids(ended)]))
        return Settled(mark=known.mark, sums=sums, open=known.open.difference(ended))

    def _ids(self, condition: str, parameters: Sequence[object]) -> list[int]:
        return sql.column(f"SELECT id FROM {self.table} WHERE {condition} AND {self.where}", parameters)

    def _sums(self, condition: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        labels = ", ".join(self.labels)
        select = f"SELECT {labels}, {self.value} FROM {self.table}"
        return sql.fetch(f"{select} WHERE {condition} AND {self.where} GROUP BY {labels}", parameters)


def merged(totals: Sums, rows: Iterable[tuple[Any, ...]]) -> Sums:
    """The totals with further rows added, of the labels and a number each."""
    sums = dict(totals)
    for *labels, value in rows:
        sums[tuple(labels)] = sums.get(tuple(labels), 0) + int(value)
    return sums


transitions = RunningTotal(table="tasks_taskevent", labels=("status",), value="count(*)", at="at")
calls = RunningTotal(
    table="tasks_call",
    labels=("channel_id", "state", "mismatch <> ''"),
    value="count(*)",
    at="created_at",
    open=f"state NOT IN ({sql.words(OVER)})",
)
charges = RunningTotal(
    table="billing_ledgerentry",
    labels=("kind",),
    value="sum(amount_micros)",
    at="at",
    where="kind = 'charge' AND book = 'revenue'",
)
GROWS_SECONDS = 3 * 86_400  # a day's row grows until the last call that began on it has ended
relayed = RunningTotal(
    table="billing_relayusage",
    labels=("key_id",),
    value="sum(calls)",
    at="day",
    open=f"day >= {sql.later(str(-GROWS_SECONDS))}",
    settles_seconds=GROWS_SECONDS,
)
