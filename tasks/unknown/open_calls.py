"""Paid calls whose outcome nobody knows: the operators' open list, what is at stake, and how one leaves the list."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from billing.pricing import Price
from catalog import prices, snapshot
from catalog.entries import RouteEntry
from common import documents
from common.documents import Unreadable
from tasks.models import Call
from tasks.paid_calls import UNRESOLVED


class Refused(Exception):
    """Why an operator's wish is not granted, in words for the operator. Nothing has changed."""


def open_calls() -> QuerySet[Call]:
    """Those that no operator has settled, the oldest first, with their tasks."""
    return Call.objects.filter(UNRESOLVED).select_related("task").order_by("id")


def open_call(call_id: int) -> Call:
    """One of them. Raises Refused."""
    call = open_calls().filter(pk=call_id).first()
    if call is None:
        raise Refused("The outcome of this call is known, or was settled before.")
    return call


def costs_at_stake(calls: Sequence[Call]) -> dict[int, int | None]:
    """Micro-USD by call that the operator pays if it was bought after all; None where the catalog does not know."""
    catalog = snapshot.latest()
    tasks = {call.task_id for call in calls}
    together = Counter(Call.objects.filter(task_id__in=tasks).values_list("task_id", "attempt"))
    return {
        call.pk: _own_cost(catalog.route(call.route_id), call.task.price, together[call.task_id, call.attempt])
        for call in calls
    }


def _own_cost(route: RouteEntry | None, frozen: object, together: int) -> int | None:
    """Where so many calls were bought together each was to make the same number of pictures."""
    try:
        price = Price.frozen(frozen)
    except Unreadable:
        return None
    units = price.pricing_mode.units(files=max(1, price.quantity // together), seconds=price.seconds or 0)
    return prices.own_cost_micros(route, price.tier, units) if route else None


def resolved(call: Call, how: str, *, by: str, task_id: str | None = None) -> dict[str, Any]:
    """The call's outcome with what an operator made of it: retried, attached (both with the new task's id) or lost."""
    return {**documents.shown(call.outcome), "resolved": how, "by": by, "task": task_id}
