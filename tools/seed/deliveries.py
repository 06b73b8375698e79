"""Creates the history's callbacks: one for each ended task with a `callback_url`, tried on schedule.

One receiver nearly always answers. The other was down for two days, long enough for callbacks to be given up, and is
down again when the history ends.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from callbacks.models import Delivery, DeliveryAttempt
from common import urls
from tasks.models import Task
from tools.seed.customers import HARBOR
from tools.seed.rows import HistoryRows

OUTAGE_BEGINS, OUTAGE = 0.12, timedelta(hours=44)
LAST_OUTAGE = timedelta(hours=2)
FLAKY = 0.025
TROUBLED = {habit.callback_url for habit in HARBOR.habits if habit.callback_url}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outages:
    """Times when the troubled receiver is down: for a while from `first`, and from `last` to the end."""

    first: datetime
    last: datetime
    until: datetime

    def is_down(self, url: str, at: datetime) -> bool:
        return url in TROUBLED and (self.first <= at < self.first + OUTAGE or at >= self.last)


def owe(rng: random.Random, rows: HistoryRows, tasks: Sequence[Task], until: datetime) -> None:
    owing = sorted(
        ((task.finished_at, task.callback_url, task) for task in tasks if task.callback_url and task.finished_at),
        key=lambda owed: owed[0],
    )
    outages = _outages([at for at, url, _ in owing if url in TROUBLED], until)
    for at, url, task in owing:
        _deliver(rng, rows, task, url, at, outages)


def _outages(troubled: Sequence[datetime], until: datetime) -> Outages:
    """Chooses outages that affect at least one callback if there is any."""
    if not troubled:
        return Outages(first=until, last=until, until=until)
    first = troubled[int(len(troubled) * OUTAGE_BEGINS)]
    return Outages(first=first, last=min(until - LAST_OUTAGE, troubled[-1]), until=until)


def _deliver(rng: random.Random, rows: HistoryRows, task: Task, url: str, ended_at: datetime, outages: Outages) -> None:
    delivery = Delivery(
        id=f"{task.pk}.1",
        task=task,
        account_id=task.account_id,
        url=url,
        host=urls.split(url).authority,
        status="exhausted",
        next_attempt_at=None,
        scheduled_at=None,
        created_at=ended_at,
    )
    rows.deliveries.append(delivery)
    at = ended_at
    for wait in settings.CALLBACK_SCHEDULE:
        at += timedelta(milliseconds=round(wait * rng.uniform(0.8, 1.2) * 1000) + rng.randrange(20, 200))
        if at > outages.until:
            delivery.status, delivery.next_attempt_at, delivery.scheduled_at = "pending", at, at
            return
        delivery.attempts += 1
        attempt = _attempt(rng, delivery, at, is_down=outages.is_down(url, at))
        rows.attempts.append(attempt)
        if attempt.status_code == 204:
            delivery.status, delivery.delivered_at = "delivered", at
            return


def _attempt(rng: random.Random, delivery: Delivery, at: datetime, *, is_down: bool) -> DeliveryAttempt:
    answer = _refusal(rng) if is_down or rng.random() < FLAKY else (204, "", "")
    status_code, error, excerpt = answer
    return DeliveryAttempt(
        delivery=delivery,
        number=delivery.attempts,
        at=at,
        status_code=status_code,
        error=error,
        duration_ms=15_000 if error == "the answer took too long" else rng.randrange(18, 420),
        excerpt=excerpt,
    )


def _refusal(rng: random.Random) -> tuple[int | None, str, str]:
    return rng.choice(
        [
            (503, "", "<html><body><h1>503 Service Unavailable</h1></body></html>"),
            (502, "", '{"error": "upstream connect error"}'),
            (None, "the connection was refused", ""),
            (None, "the answer took too long", ""),
        ]
    )
