"""What was paid for nothing, or may have been: open unknown outcomes, late results, written-off calls, relayed calls
that nobody paid for."""

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
    """One kind of them. `micros` is their sum as far as it is known, `unknown` how many have no known cost."""

    count: int
    micros: int
    unknown: int

    def without(self, other: "Loss") -> "Loss":
        """The others: SQL's NOT would leave out those of which the outcome says nothing."""
        return Loss(
            count=self.count - other.count,
            micros=self.micros - other.micros,
            unknown=self.unknown - other.unknown,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """`open` is what stands open now, whenever it was bought; all others ended in the span. What relayed calls cost
    nobody knows: `relayed` sums what was held for them at most."""

    open: Loss
    late: Loss
    given_up: Loss
    relayed: Loss

    @property
    def lost_micros(self) -> int:
        return self.late.micros + self.given_up.micros


def read(since: date, until: date) -> Losses:
    """Both days, in UTC, are in it."""
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
    """Of the oldest MOST_OPEN what is at stake; the others have no known cost here."""
    rows = open_calls.open_calls()
    listed: Sequence[Call] = list(rows[:MOST_OPEN])
    stakes = list(open_calls.costs_at_stake(listed).values())
    count = len(listed) if len(listed) < MOST_OPEN else rows.count()
    known = [micros for micros in stakes if micros is not None]
    return Loss(count=count, micros=sum(known), unknown=count - len(known))
