"""Kling's protocol in both generations, `/kling/…` and `/kling/v1/videos/…`: asynchronous video jobs."""

import secrets
import time
from collections.abc import Callable
from typing import Any

from sandbox.films import Film
from sandbox.jobs import Job, Jobs, Sale
from sandbox.kling import legacy as kling_legacy
from sandbox.kling import orders as kling_orders
from sandbox.kling.errors import authenticate, error_for, invalid, success
from sandbox.kling.orders import Order
from sandbox.state import State
from sandbox.wire import Endpoint, Request, Response

BASE = "/kling"
MAX_IDS = 20
LIFETIME = 30 * 86_400.0
ENDPOINTS = "(text-to-video|image-to-video|omni-video)"
LEGACY_ENDPOINTS = "(text2video|image2video|omni-video)"
STATUSES = {"queued": "submitted", "running": "processing", "expired": "failed", "cancelled": "failed"}
FAILURES = {
    "fail": "The task failed because of an internal error.",
    "moderated-output": "Failure to pass the risk control system",
}
Shape = Callable[[Job, str], dict[str, Any]]


class Kling:
    """The endpoints of both generations and their jobs. A job takes `video_seconds` unless told otherwise."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=video_seconds)
        self._by_name: dict[str, Job] = {}
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", f"{BASE}/{ENDPOINTS}/([^/]+)", self.create),
            ("GET", f"{BASE}/tasks", self.search),
            ("POST", f"{BASE}/v1/videos/{LEGACY_ENDPOINTS}", self.create_legacy),
            ("GET", f"{BASE}/v1/videos/{LEGACY_ENDPOINTS}", self.list_legacy),
            ("GET", f"{BASE}/v1/videos/{LEGACY_ENDPOINTS}/([^/]+)", self.get_legacy),
        ]

    async def create(self, request: Request, endpoint: str, model: str) -> Response:
        """POST: buys a job and returns its id."""
        self._state.audit.call("submit")
        authenticate(request, takes_tokens=False)
        return self._buy(request, kling_orders.order_of(endpoint, model, request.body), represent)

    async def create_legacy(self, request: Request, endpoint: str) -> Response:
        """POST in the older generation."""
        self._state.audit.call("submit")
        authenticate(request, takes_tokens=True)
        return self._buy(request, kling_legacy.order_of(endpoint, request.body), represent_legacy)

    async def search(self, request: Request) -> Response:
        """GET of several by the provider's ids or the callers' names; unknown ones are left out."""
        self._state.audit.call("poll")
        authenticate(request, takes_tokens=False)
        ids, names = (wanted(request, name) for name in ("task_ids", "external_task_ids"))
        if bool(ids) == bool(names) or len(ids + names) > MAX_IDS:
            raise invalid(f"task_ids or external_task_ids is expected, with at most {MAX_IDS} ids")
        found = filter(None, [*map(self._jobs.find, ids), *map(self._by_name.get, names)])
        jobs = list(found)
        return self._jobs.polled(success([represent(job, request.origin) for job in jobs]), jobs, error_for)

    async def get_legacy(self, request: Request, endpoint: str, name: str) -> Response:
        """GET of one by the provider's id or the caller's name, below the endpoint that made it."""
        self._state.audit.call("poll")
        authenticate(request, takes_tokens=True)
        job = self._jobs.find(name) or self._by_name.get(name)
        if job is None or job.detail.path != endpoint:
            raise invalid("Task not found by id/external id")
        return self._jobs.polled(success(represent_legacy(job, request.origin)), [job], error_for)

    async def list_legacy(self, request: Request, endpoint: str) -> Response:
        """GET of the newest jobs of one endpoint."""
        authenticate(request, takes_tokens=True)
        jobs = [job for job in reversed(self._jobs.all()) if job.detail.path == endpoint]
        return success([represent_legacy(job, request.origin) for job in jobs[:30]])

    def _buy(self, request: Request, order: Order, shape: Shape) -> Response:
        if order.name in self._by_name:
            raise invalid(f"external_task_id {order.name} already exists")
        sale = Sale(
            kind="video",
            prompt=order.prompt,
            media=lambda partial: [order.film(partial=partial)],
            detail=order,
            lifetime=LIFETIME,
            reference=order.name or None,
        )
        job = self._jobs.buy(request, sale, error_for, job_id=str(10**17 + secrets.randbelow(9 * 10**17)))
        if order.name:
            self._by_name[order.name] = job
        return self._jobs.answered(success(shape(job, request.origin)), job, error_for)


def wanted(request: Request, name: str) -> list[str]:
    """Returns the ids in one parameter of the query."""
    return [part for value in request.query.get(name, ()) for part in value.split(",") if part]


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the job as the newer generation shows it now."""
    now = time.time()
    status = STATUSES.get(job.status(now), job.status(now))
    shown: dict[str, Any] = {
        "id": job.id,
        "status": status,
        "message": FAILURES[job.fate or "fail"] if status == "failed" else "",
        "create_time": int(job.created_at * 1_000),
        "update_time": int(job.updated_at(now) * 1_000),
        "external_id": job.detail.name,
    }
    if status == "succeeded":
        # One frame more than asked for, like the provider.
        length = f"{film_of(job).seconds + 0.041:.3f}"
        shown["outputs"] = [{"type": "video", "id": job.id, "url": job.urls(origin)[0], "duration": length}]
    return shown


def represent_legacy(job: Job, origin: str) -> dict[str, Any]:
    """Returns the job as the older generation shows it now."""
    shown = represent(job, origin)
    legacy: dict[str, Any] = {
        "task_id": job.id,
        "task_status": "succeed" if shown["status"] == "succeeded" else shown["status"],
        "task_status_msg": shown["message"],
        "task_info": {"external_task_id": job.detail.name},
        "created_at": shown["create_time"],
        "updated_at": shown["update_time"],
    }
    if "outputs" in shown:
        videos = [{"id": job.id, "url": job.urls(origin)[0], "duration": str(film_of(job).seconds)}]
        legacy["task_result"] = {"videos": videos}
    return legacy


def film_of(job: Job) -> Film:
    """Returns the job's only file."""
    (film,) = job.media
    if not isinstance(film, Film):
        raise TypeError("a job makes a film")
    return film
