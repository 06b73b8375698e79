"""Losses: open unknown outcomes, late results, written-off calls, and relayed calls that no customer paid for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from billing.models import RelayedCall
from tasks.models import Call
from tasks.unknown import open_calls

MOST_OPEN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Losses of one kind. `micros` is the known sum, `unknown` the number without a known cost."""

    count: int
    micros: int
    unknown: int

    def without(self, other: "Loss") -> "Loss":
        """Subtract other losses: SQL's NOT would skip rows whose outcome lacks the key."""
        return Loss(
            count=self.count - other.count,
            micros=self.micros - other.micros,
            unknown=self.unknown - other.unknown,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Losses by kind. `open` is everything open now; the others ended in the span. The cost of relayed calls is
    unknown: `relayed` sums their holds."""

    open: Loss
    late: Loss
    given_up: Loss
    relayed: Loss

    @property
    def lost_micros(self) -> int:
        return self.late.micros + self.given_up.micros


def read(since: date, until: date) -> Losses:
    """Read the losses of a span of UTC days, both ends included."""
    ended = {
        "ended_at__gte": datetime.combine(since, time(), UTC),
        "ended_at__lt": datetime.combine(until, time(), UTC) + timedelta(days=1),
    }
    lost = Call.objects.filter(state="lost", **ended)
    given_up = _summed(lost.filter(outcome__resolved="lost"), "cost_micros")
    return Losses(
        open=_open(),
        late=_summed(lost, "cost_micros").without(given_up),
        given_up=given_up,
        relayed=_summed(RelayedCall.objects.filter(is_loss=True, **ended), "estimated_micros"),
    )


def _summed(rows: QuerySet[Any], column: str) -> Loss:
    found = rows.order_by().aggregate(
        count=Count("pk"), micros=Sum(column), unknown=Count("pk", filter=Q(**{f"{column}__isnull": True}))
    )
    return Loss(count=found["count"], micros=found["micros"] or 0, unknown=found["unknown"])


def _open() -> Loss:
    """Sum up the cost at stake of the oldest MOST_OPEN; further ones count as unknown."""
    rows = open_calls.open_calls()
    listed: Sequence[Call] = list(rows[:MOST_OPEN])
    stakes = list(open_calls.costs_at_stake(listed).values())
    count = len(listed) if len(listed) < MOST_OPEN else rows.count()
    known = [micros for micros in stakes if micros is not None]
    return Loss(count=count, micros=sum(known), unknown=count - len(known))
