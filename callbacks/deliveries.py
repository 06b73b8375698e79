"""Deliveries as rows: owes them at the end of a task, records their attempts, makes them due again, shows their log.

`claims` claims them, `sender` sends them. An attempt is recorded once: the update is guarded by the number of attempts
that was known when the delivery was claimed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import transaction

from callbacks import schedule
from callbacks.models import Delivery, DeliveryAttempt
from common import sql, urls
from common.concurrency import wakeups
from common.database import writes
from common.database.writes import Write
from common.errors import NotRedeliverable

LONGEST_LOG = 100
# Of an account, pending, those that its live tasks will owe included.
MOST_NEVER_ATTEMPTED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A claimed delivery. `number` is that of this attempt, `scheduled` how many the schedule has had before it.

    `is_resend`: somebody asked for this attempt, the schedule's next one stands.
    """

    id: str
    task_id: str
    account_id: int
    secret_id: int
    url: str
    host: str
    number: int
    scheduled: int
    is_resend: bool
    claimed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an attempt: a status code, or an error in words that the client may read.

    `excerpt` is the beginning of the receiver's answer, `retry_after` its wish in seconds.
    """

    at: datetime
    duration_ms: int = 0
    status_code: int | None = None
    error: str = ""
    excerpt: str = ""
    retry_after: float | None = None

    @property
    def is_delivered(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """The callback of a task that ends."""

    task_id: str
    account_id: int
    url: str


def owing(ended: Iterable[Owed]) -> list[Write]:
    """The write of one delivery for each, to be run in the transaction that ends the tasks. Its id is the task's with
    the run number, 1."""
    first = sql.later(str(settings.CALLBACK_SCHEDULE[0]))
    listed = [_owed_row(owed) for owed in ended]
    if listed:
        wakeups.tell("callbacks")
    return writes.of_rows(
        "INSERT INTO callbacks_delivery (id, task_id, account_id, url, host, next_attempt_at, scheduled_at) "
        f"SELECT r.task || '.1', r.task, r.account, r.url, r.host, {first}, {first} FROM {{rows}}",
        "task text, account bigint, url text, host text",
        listed,
    )


def _owed_row(owed: Owed) -> dict[str, Any]:
    return {"task": owed.task_id, "account": owed.account_id, "url": owed.url, "host": _host_of(owed.url)}


@lru_cache(maxsize=1_000)
def _host_of(url: str) -> str:
    """Remembered: a client has few, and thousands of tasks."""
    return urls.split(url).authority[:255]


# A resend that was asked for after the claim is still owed, whatever came of this attempt.
RECORD = """
UPDATE callbacks_delivery SET
    attempts = attempts + 1,
    resends = resends + CASE WHEN r.is_resend THEN 1 ELSE 0 END,
    claimed_at = NULL,
    delivered_at = CASE WHEN r.is_delivered THEN COALESCE(delivered_at, {now}) ELSE delivered_at END,
    scheduled_at = {scheduled},
    next_attempt_at = CASE WHEN next_attempt_at > claimed_at THEN next_attempt_at ELSE {scheduled} END,
    status = CASE
        WHEN next_attempt_at > claimed_at OR {scheduled} IS NOT NULL THEN 'pending'
        WHEN r.is_delivered OR delivered_at IS NOT NULL THEN 'delivered'
        ELSE 'exhausted' END
FROM {rows}
WHERE callbacks_delivery.id = r.id AND callbacks_delivery.attempts = r.number - 1 AND status = 'pending'
"""
SCHEDULED = "CASE WHEN r.is_delivered THEN NULL WHEN r.is_resend THEN scheduled_at ELSE {later} END"
RECORD_COLUMNS = "id text, number bigint, is_resend bool, is_delivered bool, wait real"


def record(due: Due, outcome: Outcome) -> bool:
    """Write down an attempt and what follows from it; False, and nothing changed, if that was done already."""
    wait = schedule.wait_seconds(
        settings.CALLBACK_SCHEDULE, attempts=due.scheduled + 1, retry_after=outcome.retry_after
    )
    scheduled = SCHEDULED.format(later=sql.later("r.wait"))
    row = {
        "id": due.id,
        "number": due.number,
        "is_resend": due.is_resend,
        "is_delivered": outcome.is_delivered,
        "wait": wait,
    }
    with transaction.atomic():
        is_first = sql.run(
            RECORD.format(now=sql.now(), scheduled=scheduled, rows=sql.rows(RECORD_COLUMNS)), [sql.pack([row])]
        )
        if is_first:
            DeliveryAttempt.objects.create(
                delivery_id=due.id,
                number=due.number,
                at=outcome.at,
                status_code=outcome.status_code,
                error=outcome.error,
                duration_ms=outcome.duration_ms,
                excerpt=outcome.excerpt,
            )
    return bool(is_first)


# An attempt that is owed already and has not begun keeps its place.
RESEND = """
UPDATE callbacks_delivery SET status = 'pending', next_attempt_at = CASE
    WHEN next_attempt_at <= {now} AND (claimed_at IS NULL OR next_attempt_at > claimed_at) THEN next_attempt_at
    ELSE {now} END
WHERE task_id {chosen}
"""


def resend(task_ids: Sequence[str]) -> int:
    """Make one attempt due now for each of these tasks that has a delivery; returns how many have.

    The schedule of a pending delivery stays as it is; one that had ended returns to delivered or exhausted.
    """
    found = sql.run(RESEND.format(now=sql.now(), chosen=sql.among("text")), [sql.ids(task_ids)])
    wakeups.tell("callbacks")
    return found


def redeliver(task_id: str) -> Delivery:
    """Send this task's callback once more, at once. Raises NotRedeliverable."""
    if not resend([task_id]):
        raise NotRedeliverable("There is no callback to send again: the task has not ended, or has no callback_url.")
    return Delivery.objects.get(task_id=task_id)


def log(task_id: str) -> tuple[Delivery | None, list[DeliveryAttempt]]:
    """The task's delivery, if it has one, and its last 100 attempts, oldest first, without the excerpts."""
    delivery = Delivery.objects.filter(task_id=task_id).first()
    if delivery is None:
        return None, []
    newest = delivery.log.defer("excerpt").order_by("-number")[:LONGEST_LOG]
    return delivery, list(newest)[::-1]
