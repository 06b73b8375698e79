"""What a task cost its customer, line by line: estimated, held, charged, given back. Never what it cost us."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.models import Hold, LedgerEntry
from pages import words
from tasks.shown.representation import TaskView


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """`amount_micros` moved the balance where `moves`; else it was only set aside, or foreseen."""

    label: str
    amount_micros: int
    at: datetime | None
    moves: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCost:
    """In micro-USD."""

    lines: tuple[CostLine, ...]
    charged_micros: int
    refunded_micros: int


def of_task(task: TaskView) -> TaskCost:
    """Two statements."""
    hold = Hold.objects.filter(reference=task.id).first()
    entries = list(LedgerEntry.objects.filter(reference=task.id, book="customer").order_by("id"))
    return TaskCost(
        lines=tuple(_lines(task, hold, entries)),
        charged_micros=-sum(entry.amount_micros for entry in entries if entry.kind == "charge"),
        refunded_micros=sum(entry.amount_micros for entry in entries if entry.kind == "refund"),
    )


LABELS = {"charge": "Charged for what was delivered", "refund": "Given back"}


def _lines(task: TaskView, hold: Hold | None, entries: Sequence[LedgerEntry]) -> Iterator[CostLine]:
    yield CostLine(label="Estimated when it was submitted", amount_micros=task.estimated_micros, at=task.created_at)
    if hold:
        held = "Held, still" if hold.state == "open" else "Held meanwhile"
        yield CostLine(label=held, amount_micros=hold.amount_micros, at=hold.created_at)
    for entry in entries:
        label = LABELS.get(entry.kind, entry.kind)
        yield CostLine(label=label, amount_micros=entry.amount_micros, at=entry.at, moves=True)
    if hold and hold.state == "released":
        yield CostLine(label="Released, nothing was charged", amount_micros=hold.amount_micros, at=hold.closed_at)


def in_all(cost: TaskCost, balance_micros: int) -> str:
    """What the task took from the balance, and what that is now."""
    took = cost.charged_micros - cost.refunded_micros
    return f"In all it took {words.usd(took) if took else 'nothing'}; your balance is {words.usd(balance_micros)} now."
