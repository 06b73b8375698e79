"""State of a task's callback in words, with every attempt. The receiver's answers are not shown."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from callbacks import deliveries
from callbacks.models import Delivery, DeliveryAttempt
from common.redaction import clean
from pages import words

SOON_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerCallback:
    """Callback of a task. `attempts` come newest first; `delivery` is None until the task has ended. `is_near`: the
    next attempt is seconds away."""

    url: str
    delivery: Delivery | None
    attempts: tuple[DeliveryAttempt, ...]
    what: str
    next_step: str
    is_near: bool


def read(task_id: str, callback_url: str | None) -> CustomerCallback | None:
    """Read the callback in at most two statements; None if none was requested."""
    if callback_url is None:
        return None
    delivery, attempts = deliveries.log(task_id)
    what, next_step = _words(delivery, attempts)
    return CustomerCallback(
        url=clean(callback_url),
        delivery=delivery,
        attempts=tuple(reversed(attempts)),
        what=what,
        next_step=next_step,
        is_near=_is_near(delivery),
    )


def _words(delivery: Delivery | None, attempts: Sequence[DeliveryAttempt]) -> tuple[str, str]:
    """Describe what happened, and what to do next, if anything."""
    if delivery is None:
        return "It is sent when the task has ended.", ""
    tries = words.counted(delivery.attempts, "attempt")
    if delivery.status == "delivered":
        return f"Delivered after {tries}.", ""
    said = f" Last attempt: {answer(attempts[-1])}." if attempts else ""
    if delivery.status == "exhausted":
        return (
            f"Not delivered after {tries}.{said}",
            "No more attempts are scheduled: fix the receiver, then send it again.",
        )
    return f"Pending, {tries} so far.{said}", ""


def answer(attempt: DeliveryAttempt) -> str:
    """Summarise the result of an attempt."""
    if attempt.status_code is None:
        return f"no answer ({attempt.error})" if attempt.error else "no answer"
    return f"HTTP {attempt.status_code}, {'accepted' if 200 <= attempt.status_code < 300 else 'not accepted'}"


def _is_near(delivery: Delivery | None) -> bool:
    if delivery is None or delivery.status != "pending" or delivery.next_attempt_at is None:
        return False
    return (delivery.next_attempt_at - timezone.now()).total_seconds() < SOON_SECONDS
