"""Pages of callbacks, and a callback's state in words: delivered, pending or exhausted."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from callbacks.models import Delivery, DeliveryAttempt
from common.redaction import clean
from pages import words

PAGE = 50
SCANNED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPage:
    """Page of callbacks, the newest first. `older` is the id before which the next page begins, None at the end;
    `is_cut`: the scan stopped at its limit."""

    rows: tuple[Delivery, ...]
    older: str | None
    is_cut: bool


def find(*, status: str = "", host: str = "", before: str = "") -> DeliveryPage:
    """Find a page of callbacks in at most two statements, scanned by id: filters have no index."""
    rows = Delivery.objects.order_by("-pk")
    rows = rows.filter(pk__lt=before) if before else rows
    wanted = {name: value for name, value in (("status", status), ("host", host)) if value}
    floor = _floor(rows) if wanted else None
    chosen = (rows.filter(pk__gte=floor) if floor else rows).filter(**wanted).values("pk")[: PAGE + 1]
    # Tasks are joined afterwards: SQLite, without statistics, would start by reading all tasks.
    found = list(rows.filter(pk__in=chosen).select_related("task__key__account"))
    shown = tuple(found[:PAGE])
    is_cut = len(found) <= PAGE and floor is not None
    older = floor if is_cut else shown[-1].pk if len(found) > PAGE else None
    return DeliveryPage(rows=shown, older=older, is_cut=is_cut)


def _floor(rows: QuerySet[Delivery]) -> str | None:
    return next(iter(rows.values_list("pk", flat=True)[SCANNED - 1 : SCANNED]), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryVerdict:
    """State of a callback in words, and what to do next, if anything."""

    what: str
    next_step: str = ""


def verdict(delivery: Delivery, attempts: Sequence[DeliveryAttempt]) -> DeliveryVerdict:
    """Describe a callback; `attempts` come newest first."""
    tries = words.counted(delivery.attempts, "attempt")
    if delivery.status == "delivered" and delivery.delivered_at:
        ago = words.ago(delivery.delivered_at, timezone.now())
        return DeliveryVerdict(what=f"Delivered to {delivery.host} {ago}, after {tries}.")
    said = f" Last attempt: {answer(attempts[0])}." if attempts else ""
    if delivery.status == "exhausted":
        return DeliveryVerdict(
            what=f"Not delivered to {delivery.host} after {tries}.{said}",
            next_step="No more attempts are scheduled. Ask the receiver's owner to fix it, then send the callback "
            "again.",
        )
    due = delivery.next_attempt_at
    comes = f" The next attempt is {words.ago(due, timezone.now())}." if due and due > timezone.now() else ""
    return DeliveryVerdict(
        what=f"Pending to {delivery.host}: {tries} so far.{said}{comes or ' An attempt is due now.'}"
    )


def answer(attempt: DeliveryAttempt) -> str:
    """Summarise the receiver's answer."""
    status = f"HTTP {attempt.status_code}" if attempt.status_code else "no answer"
    return f"{status}: {clean(attempt.error)}" if attempt.error else status
