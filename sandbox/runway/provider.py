"""Runway's protocol below `/runway`: asynchronous video tasks, by model or by router."""

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from sandbox.jobs import Job, Jobs, Sale
from sandbox.runway import orders as runway_orders
from sandbox.runway.errors import authenticate, charge, error_for, unknown_task
from sandbox.runway.orders import Order
from sandbox.state import State
from sandbox.wire import Endpoint, Request, Response, json_response

PREFIX = "/runway/v1"
CREDITS_PER_SECOND = 5
FAILURES = {
    "fail": ("INTERNAL.BAD_OUTPUT.CODE01", "An unexpected error occurred."),
    "moderated-output": ("SAFETY.OUTPUT.VIDEO", "The output did not pass content moderation."),
}
STATUSES = {"running": "RUNNING", "succeeded": "SUCCEEDED", "cancelled": "CANCELLED"}


class Runway:
    """The endpoints and their tasks. A task takes `video_seconds` unless its prompt says otherwise."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=video_seconds)
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", f"{PREFIX}/(text_to_video|image_to_video|generate/video)", self.create),
            ("GET", f"{PREFIX}/tasks/([^/]+)", self.get),
            ("DELETE", f"{PREFIX}/tasks/([^/]+)", self.delete),
            ("GET", f"{PREFIX}/organization", self.organization),
        ]

    async def create(self, request: Request, endpoint: str) -> Response:
        """POST: buys a task and returns its id."""
        self._state.audit.call("submit")
        authenticate(request)
        order = order_of(request.body, endpoint)
        charge(request)
        sale = Sale(
            kind="video", prompt=order.prompt, media=lambda partial: [order.film(partial=partial)], detail=order
        )
        job = self._jobs.buy(request, sale, error_for, job_id=str(uuid.uuid4()))
        cost = {"credits": order.seconds * CREDITS_PER_SECOND}
        created = {"id": job.id, **({"routing": routing(order, cost)} if order.config else {"estimatedCost": cost})}
        return self._jobs.answered(json_response(created), job, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one task."""
        self._state.audit.call("poll")
        authenticate(request)
        job = self._find(job_id)
        return self._jobs.polled(json_response(represent(job, request.origin)), [job], error_for)

    async def delete(self, request: Request, job_id: str) -> Response:
        """DELETE: cancels an unfinished task, deletes an ended one."""
        self._state.audit.call("cancel")
        authenticate(request)
        job = self._find(job_id)
        if job.status() in ("queued", "running"):
            self._jobs.cancel(job)
        else:
            self._jobs.forget(job)
        return Response(status=204)

    async def organization(self, request: Request) -> Response:
        """GET: the account behind the key."""
        authenticate(request)
        return json_response({"creditBalance": 0 if request.bearer == "broke" else 10_000})

    def _find(self, job_id: str) -> Job:
        if job := self._jobs.find(job_id):
            return job
        raise unknown_task()


def order_of(body: bytes, endpoint: str) -> Order:
    if endpoint == "generate/video":
        return runway_orders.routed_order(body)
    return runway_orders.classic_order(body, with_image=endpoint == "image_to_video")


def routing(order: Order, cost: dict[str, int]) -> dict[str, Any]:
    """Returns the model that the router chose, and why."""
    return {
        "configId": order.config,
        "model": order.model,
        "provider": "sandbox",
        "estimatedCost": cost,
        "resolvedInput": {"duration": order.seconds, "ratio": order.ratio, "resolution": order.resolution},
        "resolvedSettings": {"optimizeFor": "cost"},
    }


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the task as the protocol shows it now."""
    status = job.status(time.time())
    cost = {"credits": job.detail.seconds * CREDITS_PER_SECOND}
    shown: dict[str, Any] = {
        "id": job.id,
        "createdAt": datetime.fromtimestamp(job.created_at, UTC).isoformat(),
        "status": STATUSES.get(status, "FAILED"),
    }
    match status:
        case "queued":
            waiting = "THROTTLED" if job.script.has("queued") else "PENDING"
            return shown | {"status": waiting, "estimatedCost": cost}
        case "running":
            return shown | {"progress": round(job.progress(), 3), "estimatedCost": cost}
        case "succeeded":
            return shown | {"output": job.urls(origin), "cost": cost}
        case "cancelled":
            return shown | {"cost": {"credits": 0}}
        case _:
            code, message = FAILURES[job.fate or "fail"]
            return shown | {"failureCode": code, "failure": message, "cost": {"credits": 0}}
