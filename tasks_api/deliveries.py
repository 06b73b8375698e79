"""Views that show the delivery log of a task's callback, and send it once more."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from callbacks import deliveries
from callbacks.models import Delivery, DeliveryAttempt
from common import moments
from tasks_api.base_view import TaskApiView


class DeliveriesView(TaskApiView):
    """GET lists the attempts; `delivery` is null while there is nothing to deliver."""

    def get(self, request: Request, task_id: str) -> Response:
        delivery, attempts = deliveries.log(self.task(task_id).id)
        return Response(
            {
                "object": "list",
                "data": [shown_attempt(attempt) for attempt in attempts],
                "delivery": shown(delivery) if delivery else None,
            }
        )


class RedeliverView(TaskApiView):
    """POST makes one attempt due now."""

    def post(self, request: Request, task_id: str) -> Response:
        return Response(shown(deliveries.redeliver(self.task(task_id).id)), status=202)


def shown(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "next_attempt_at": moments.iso(delivery.next_attempt_at),
    }


def shown_attempt(attempt: DeliveryAttempt) -> dict[str, Any]:
    """What the receiver answered beyond its status is the operator's to see."""
    return {
        "attempt": attempt.number,
        "at": moments.iso(attempt.at),
        "status_code": attempt.status_code,
        "error": attempt.error or None,
        "duration_ms": attempt.duration_ms,
    }
