"""Collects the history's rows in memory, and writes them table by table in the order of their creation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

from django.db.models import Model

from billing.models import Hold, LedgerEntry, RelayedCall, RelayUsage
from callbacks.models import Delivery, DeliveryAttempt
from tasks.models import Asset, Call, Task, TaskEvent, TaskPayload

BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """A subject's money: held from `created_at` to `ended_at`, then `charged_micros` charged, or released if None."""

    reference: str
    account_id: int
    key_id: int
    held_micros: int
    charged_micros: int | None
    created_at: datetime
    ended_at: datetime


@dataclass(slots=True)
class HistoryRows:
    """Rows to write; `money` becomes holds and entries (`tools/seed/books.py`)."""

    tasks: list[Task] = field(default_factory=list)
    payloads: list[TaskPayload] = field(default_factory=list)
    events: list[TaskEvent] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    assets: list[Asset] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    attempts: list[DeliveryAttempt] = field(default_factory=list)
    relayed: list[RelayedCall] = field(default_factory=list)
    usage: list[RelayUsage] = field(default_factory=list)
    money: list[Money] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)

    def write(self) -> None:
        """Writes all rows. Ids that the database assigns rise with time, as if rows had come one by one."""
        for table in self._tables():
            if table:
                type(table[0])._default_manager.bulk_create(table, batch_size=BATCH)

    def _tables(self) -> Iterator[Sequence[Model]]:
        self.tasks.sort(key=by_age)
        yield self.tasks
        yield self.payloads
        yield sorted(self.events, key=attrgetter("at"))
        yield sorted(self.calls, key=attrgetter("created_at"))
        yield self.assets
        yield self.deliveries
        yield self.attempts
        yield self.relayed
        yield self.usage
        yield self.holds
        yield sorted(self.entries, key=attrgetter("at"))


def by_age(task: Task) -> tuple[bool, str]:
    """Sorts tasks so that a retry follows the task that it repeats."""
    return task.retry_of is not None, task.pk
