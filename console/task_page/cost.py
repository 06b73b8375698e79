"""Cost of a task for its customer: estimate, hold, charges and refunds; never our own cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.models import Hold, LedgerEntry
from pages import words
from tasks.shown.representation import TaskView


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """Line of the cost. If `moves`, the amount moved the balance; otherwise it was only held or estimated."""

    label: str
    amount_micros: int
    at: datetime | None
    moves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCost:
    """Lines and sums of a task in micro-USD."""

    lines: tuple[CostLine, ...]
    charged_micros: int
    refunded_micros: int


def read(task: TaskView) -> TaskCost:
    """Read the cost in two statements."""
    hold = Hold.objects.filter(reference=task.id).first()
    entries = list(LedgerEntry.objects.filter(reference=task.id, book="customer").order_by("id"))
    return TaskCost(
        lines=tuple(_lines(task, hold, entries)),
        charged_micros=-sum(entry.amount_micros for entry in entries if entry.kind == "charge"),
        refunded_micros=sum(entry.amount_micros for entry in entries if entry.kind == "refund"),
    )


LABELS = {"charge": "Charged for what was delivered", "refund": "Refunded"}


def _lines(task: TaskView, hold: Hold | None, entries: Sequence[LedgerEntry]) -> Iterator[CostLine]:
    yield CostLine(label="Estimated when it was submitted", amount_micros=task.estimated_micros, at=task.created_at)
    if hold:
        held = "Held" if hold.state == "open" else "Held while it ran"
        yield CostLine(label=held, amount_micros=hold.amount_micros, at=hold.created_at)
    for entry in entries:
        label = LABELS.get(entry.kind, entry.kind)
        yield CostLine(label=label, amount_micros=entry.amount_micros, at=entry.at, moves=True)
    if hold and hold.state == "released":
        yield CostLine(label="Released, nothing was charged", amount_micros=hold.amount_micros, at=hold.closed_at)


def in_all(cost: TaskCost, balance_micros: int) -> str:
    """Say what the task cost in all, and the balance now."""
    spent = cost.charged_micros - cost.refunded_micros
    total = words.cents(spent) if spent else "nothing"
    return f"In all it cost {total}; your balance is now {words.cents(balance_micros)}."
