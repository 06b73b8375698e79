"""Refunds: what a customer was charged for a task, or part of it, is booked back, once. The task keeps its story."""

import logging
from dataclasses import dataclass

from django.db import transaction

from billing import ledger
from billing.models import LedgerEntry
from pages import words

logger = logging.getLogger(__name__)
LONGEST_REASON = 500


class RefundRefused(Exception):
    """Why nothing is refunded, in words for the operator. Nothing has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What an account has paid for a task, in micro-USD."""

    account_id: int
    amount_micros: int


def charge_of(task_id: str) -> Charge | None:
    """None where nothing was charged: it costs nothing, has not succeeded, or does not exist."""
    leg = LedgerEntry.objects.filter(reference=task_id, kind="charge", book="customer").first()
    if leg is None or leg.account_id is None:
        return None
    return Charge(account_id=leg.account_id, amount_micros=-leg.amount_micros)


def of_task(task_id: str) -> int:
    """What was refunded of a task's charge, in micro-USD."""
    booked = LedgerEntry.objects.filter(reference=task_id, kind="refund", book="customer")
    return booked.values_list("amount_micros", flat=True).first() or 0


def refund(task_id: str, amount_micros: int, *, reason: str, by: str) -> None:
    """Give this much of the task's charge back to its account, in one transaction. Status, events, callback and
    `actual_cost` stay as they are. Raises RefundRefused."""
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise RefundRefused(f"A refund needs a reason, of at most {LONGEST_REASON} characters.")
    charge = charge_of(task_id)  # a charge never changes
    if charge is None:
        raise RefundRefused("Nothing was charged for this task, so there is nothing to refund.")
    if not 0 < amount_micros <= charge.amount_micros:
        raise RefundRefused(f"A refund is above zero, and at most what was charged: {words.usd(charge.amount_micros)}.")
    with transaction.atomic():
        ledger.lock_accounts([charge.account_id])
        if before := of_task(task_id):
            raise RefundRefused(f"This task was refunded before: {words.usd(before)}. That can be done once.")
        ledger.give_back(charge.account_id, amount_micros, reference=task_id, reason=reason)
    logger.info("task %s: %d micro-USD refunded by %s", task_id, amount_micros, by)
