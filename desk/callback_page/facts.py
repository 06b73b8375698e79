"""The callbacks of a list and the words of one: what was delivered, what is on its way, and what was given up."""

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
    """The newest first. `older` is the id before which the list goes on, None at its end; `is_cut`: it stopped there
    because it had looked at enough."""

    rows: tuple[Delivery, ...]
    older: str | None
    is_cut: bool


def find(*, status: str = "", host: str = "", before: str = "") -> DeliveryPage:
    """At most two statements, by the order of ids alone: no index knows the rest."""
    rows = Delivery.objects.order_by("-pk")
    rows = rows.filter(pk__lt=before) if before else rows
    wanted = {name: value for name, value in (("status", status), ("host", host)) if value}
    floor = _floor(rows) if wanted else None
    chosen = (rows.filter(pk__gte=floor) if floor else rows).filter(**wanted).values("pk")[: PAGE + 1]
    # Their tasks join afterwards: SQLite, which has no statistics, would begin with reading all tasks.
    found = list(rows.filter(pk__in=chosen).select_related("task__key__account"))
    shown = tuple(found[:PAGE])
    is_cut = len(found) <= PAGE and floor is not None
    older = floor if is_cut else shown[-1].pk if len(found) > PAGE else None
    return DeliveryPage(rows=shown, older=older, is_cut=is_cut)


def _floor(rows: QuerySet[Delivery]) -> str | None:
    return next(iter(rows.values_list("pk", flat=True)[SCANNED - 1 : SCANNED]), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryVerdict:
    """What happened to it, and what to do next where something is."""

    what: str
    next_step: str = ""


def verdict(delivery: Delivery, attempts: Sequence[DeliveryAttempt]) -> DeliveryVerdict:
    """`attempts` are the newest first."""
    tries = words.counted(delivery.attempts, "attempt")
    if delivery.status == "delivered" and delivery.delivered_at:
        ago = words.ago(delivery.delivered_at, timezone.now())
        return DeliveryVerdict(what=f"Delivered to {delivery.host} {ago}, after {tries}.")
    said = f" The last one: {answer(attempts[0])}." if attempts else ""
    if delivery.status == "exhausted":
        return DeliveryVerdict(
            what=f"Not delivered to {delivery.host} after {tries}.{said}",
            next_step="Nothing is sent by itself any more. Ask the receiver's owner to mend it, then send it again.",
        )
    due = delivery.next_attempt_at
    comes = f" The next one comes {words.ago(due, timezone.now())}." if due and due > timezone.now() else ""
    return DeliveryVerdict(what=f"On its way to {delivery.host}: {tries} so far.{said}{comes or ' One is due now.'}")


def answer(attempt: DeliveryAttempt) -> str:
    """What the receiver answered, in a few words."""
    status = f"HTTP {attempt.status_code}" if attempt.status_code else "no answer"
    return f"{status}: {clean(attempt.error)}" if attempt.error else status
