"""Money on a task's page: hold, charges, refunds, own cost and margin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.models import Hold, LedgerEntry
from tasks.models import Call

LABELS = {"charge": "Charged", "refund": "Refunded", "credit": "Credited"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyLine:
    """Line of the customer's account in micro-USD: a hold, or a movement of the balance (`moves`)."""

    label: str
    amount_micros: int
    at: datetime | None
    note: str = ""
    moves: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMoney:
    """Sums in micro-USD. `cost_micros` is the known own cost, `is_whole` whether all of it is known; `margin_micros` is
    None for a live task."""

    lines: tuple[MoneyLine, ...]
    charged_micros: int
    refunded_micros: int
    cost_micros: int
    is_whole: bool
    margin_micros: int | None


def add_up(hold: Hold | None, entries: Sequence[LedgerEntry], calls: Sequence[Call], *, has_ended: bool) -> TaskMoney:
    booked = [entry for entry in entries if entry.book == "customer"]
    charged = -sum(entry.amount_micros for entry in booked if entry.kind == "charge")
    refunded = sum(entry.amount_micros for entry in booked if entry.kind == "refund")
    bought = [call for call in calls if call.state != "refused"]
    cost = sum(call.cost_micros or 0 for call in bought)
    return TaskMoney(
        lines=tuple(_lines(hold, booked)),
        charged_micros=charged,
        refunded_micros=refunded,
        cost_micros=cost,
        is_whole=all(call.cost_micros is not None for call in bought),
        margin_micros=charged - refunded - cost if has_ended else None,
    )


def _lines(hold: Hold | None, booked: Sequence[LedgerEntry]) -> Iterator[MoneyLine]:
    if hold:
        yield MoneyLine(label="Held", amount_micros=hold.amount_micros, at=hold.created_at, moves=False)
    for entry in booked:
        label = LABELS.get(entry.kind, entry.kind)
        yield MoneyLine(label=label, amount_micros=entry.amount_micros, at=entry.at, note=entry.reason)
    if hold and hold.state == "released":
        yield MoneyLine(label="Released", amount_micros=hold.amount_micros, at=hold.closed_at, moves=False)
