"""The steps of a delivery on the domain level, for tests to take one by one."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any

from django.db import connection

from callbacks import deliveries, sender
from callbacks.claims import Claims
from callbacks.dealing import Receiver
from callbacks.deliveries import Due, Outcome
from callbacks.models import Delivery
from common import sql
from common.urls import UrlPolicy
from tasks.shown import callback_bodies
from tests.tasks.steps import captured
from tools.children import PATIENCE

LOOPBACK = UrlPolicy(allow_networks=(ip_network("127.0.0.0/8"),))
PATIENT = replace(sender.LIMITS, connect_seconds=PATIENCE, total_seconds=PATIENCE)
FAR = 1_000


def claimed(
    *, seats: int = FAR, retry_seats: int = FAR, busy: Mapping[Receiver, int] | None = None, by: Claims | None = None
) -> tuple[Due, ...]:
    return (by or Claims()).claim(seats=seats, retry_seats=retry_seats, busy=busy or {})


def claimed_one() -> Due:
    (due,) = claimed()
    return due


def standard_secret(secret: str) -> str:
    """A key as libraries of Standard Webhooks want it."""
    return f"whsec_{b64encode(secret.encode()).decode()}"


def outcome(status_code: int | None = 200, **fields: Any) -> Outcome:
    return Outcome(at=datetime.now(UTC), status_code=status_code, **fields)


def attempted(status_code: int | None = 200, **fields: Any) -> Due:
    """The only due delivery, claimed and recorded."""
    due = claimed_one()
    assert deliveries.record(due, outcome(status_code, **fields))
    return due


def delivery(task_id: str) -> Delivery:
    return Delivery.objects.get(task_id=task_id)


def state(task_id: str) -> tuple[str, int]:
    found = delivery(task_id)
    return found.status, found.attempts


def wait_of(task_id: str) -> float:
    """Seconds from the last attempt's record to the next attempt, give or take how long the test took."""
    next_attempt_at = delivery(task_id).next_attempt_at
    assert next_attempt_at is not None
    return (next_attempt_at - datetime.now(UTC)).total_seconds()


def let_pass(task_id: str, seconds: float) -> None:
    """Move the delivery's moments so far back, as if that time had gone by."""
    columns = ("next_attempt_at", "scheduled_at", "claimed_at")
    for column in columns:
        at = getattr(delivery(task_id), column)
        if at is not None:
            sql.run(
                f"UPDATE callbacks_delivery SET {column} = {sql.after(column, '%s')} WHERE task_id = %s",
                [-seconds, task_id],
            )


def sent(due: Due, **options: Any) -> Outcome:
    """What comes of an attempt at a receiver on loopback."""
    return sender.deliver(due, callback_bodies.make, **{"policy": LOOPBACK, "limits": PATIENT, **options})


@dataclass
class Work:
    """What the queries of a block read: rows on PostgreSQL, hundreds of steps of its machine on SQLite."""

    rows: int = 0

    def add(self) -> int:
        self.rows += 1
        return 0


@contextmanager
def work() -> Iterator[Work]:
    """Measures the queries of a block by what they read and not by their time."""
    found = Work()
    if sql.is_postgresql():
        with captured() as statements:
            yield found
        for statement in statements:
            if not statement.lstrip().startswith("UPDATE"):
                found.rows += rows_read(
                    sql.value(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}".replace("%", "%%"))[0]["Plan"]
                )
        return
    connection.ensure_connection()
    connection.connection.set_progress_handler(found.add, 100)
    yield found
    connection.connection.set_progress_handler(None, 0)


def rows_read(plan: Mapping[str, Any]) -> int:
    """Of a plan's node and all below it; those that a filter refused count, too."""
    own = sum(plan.get(name, 0) for name in ("Actual Rows", "Rows Removed by Filter"))
    return int(own * plan["Actual Loops"]) + sum(rows_read(part) for part in plan.get("Plans", ()))
