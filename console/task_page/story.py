"""Timeline of a task for its customer, with the time between steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tasks.models import TaskEvent

TITLES = {
    "queued": "Submitted",
    "running": "Started",
    "succeeded": "Finished",
    "failed": "Failed",
    "timeout": "Timed out",
    "canceled": "Canceled",
}
AGAIN = {"queued": "Returned to the queue: nothing was bought", "running": "Started again"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerStep:
    """Entry of the timeline; `after_seconds` counts from the previous step."""

    at: datetime
    status: str
    title: str
    after_seconds: float | None


def tell(events: Sequence[TaskEvent]) -> list[CustomerStep]:
    """Build the steps, the oldest first."""
    return [_step(number, event, events) for number, event in enumerate(events)]


def _step(number: int, event: TaskEvent, events: Sequence[TaskEvent]) -> CustomerStep:
    before = events[number - 1] if number else None
    is_again = _is_in(event.status, events[:number])
    return CustomerStep(
        at=event.at,
        status=event.status,
        title=(AGAIN if is_again else TITLES)[event.status],
        after_seconds=(event.at - before.at).total_seconds() if before else None,
    )


def _is_in(status: str, events: Iterable[TaskEvent]) -> bool:
    return any(event.status == status for event in events)
