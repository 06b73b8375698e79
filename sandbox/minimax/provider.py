"""MiniMax's video generation V2 below `/minimax`: asynchronous video jobs with content as in the Ark protocol."""

import secrets
import time
from typing import Any

from sandbox.films import Film
from sandbox.jobs import Job, Jobs, Sale
from sandbox.minimax import orders as minimax_orders
from sandbox.minimax.errors import authenticate, error, error_for, invalid, unknown_task
from sandbox.minimax.orders import Order
from sandbox.state import State
from sandbox.wire import Endpoint, Refusal, Request, Response, json_response

CREATE, QUERY = "/minimax/v2/video_generation", "/minimax/v2/query/video_generation"
DEFAULT_PAGE_SIZE, MAX_PAGE = 20, 500
FAILURES = {
    "fail": ("1000", "internal error"),
    "moderated-output": ("1027", "generated video contains sensitive content"),
}


class MiniMax:
    """The four endpoints and their jobs. A job takes `video_seconds` unless its prompt says otherwise."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=video_seconds)
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", CREATE, self.create),
            ("DELETE", f"{CREATE}/([^/]+)", self.delete),
            ("GET", QUERY, self.search),
            ("GET", f"{QUERY}/([^/]+)", self.get),
        ]

    async def create(self, request: Request) -> Response:
        """POST: buys a job and returns its id."""
        self._state.audit.call("submit")
        authenticate(request)
        order = minimax_orders.order_of(request.body)
        sale = Sale(
            kind="video", prompt=order.prompt, media=lambda partial: [order.film(partial=partial)], detail=order
        )
        job = self._jobs.buy(request, sale, error_for, job_id=str(10**17 + secrets.randbelow(9 * 10**17)))
        return self._jobs.answered(json_response({"task_id": job.id}), job, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one job."""
        self._state.audit.call("poll")
        authenticate(request)
        job = self._find(job_id)
        return self._jobs.polled(json_response({"task": represent(job, request.origin)}), [job], error_for)

    async def search(self, request: Request) -> Response:
        """GET of several: newest first, by id if asked, in pages."""
        self._state.audit.call("poll")
        authenticate(request)
        wanted = request.query.get("filter.task_ids")
        jobs = [job for job in reversed(self._jobs.all()) if wanted is None or job.id in wanted]
        page, size = whole(request, "page_num", 1), whole(request, "page_size", DEFAULT_PAGE_SIZE)
        shown = jobs[(page - 1) * size : page * size]
        items = [represent(job, request.origin) for job in shown]
        return self._jobs.polled(json_response({"items": items, "total": len(jobs)}), shown, error_for)

    async def delete(self, request: Request, job_id: str) -> Response:
        """DELETE: cancels a queued job, refuses for a running one, deletes an ended one."""
        self._state.audit.call("cancel")
        authenticate(request)
        job = self._find(job_id)
        match job.status():
            case "queued":
                self._jobs.cancel(job)
                action = "cancelled"
            case "running" | "cancelled" as status:
                raise Refusal(error(400, 2013, f"the task is {status}"))
            case _:
                self._jobs.forget(job)
                action = "deleted"
        return json_response({"task_id": job.id, "action": action, "status": action})

    def _find(self, job_id: str) -> Job:
        if job := self._jobs.find(job_id):
            return job
        raise unknown_task()


def whole(request: Request, name: str, default: int) -> int:
    """Returns a page number or size from the query. Raises Refusal."""
    text = "".join(request.query.get(name, [str(default)]))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_PAGE:
        raise invalid(f"{name} must be a number from 1 to {MAX_PAGE}")
    return int(text)


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the job as the protocol shows it now."""
    order: Order = job.detail
    now = time.time()
    status = job.status(now)
    shown: dict[str, Any] = {
        "id": job.id,
        "model": order.model,
        "status": "failed" if status == "expired" else status,
        "created_at": int(job.created_at),
        "updated_at": int(job.updated_at(now)),
        "resolution": order.resolution,
        "duration": order.seconds,
        "ratio": order.ratio,
        "usage": {},
        "task_type": "generation",
    }
    if status == "succeeded":
        seconds = next(media.seconds for media in job.media if isinstance(media, Film))
        usage = {"total_seconds": seconds, "output_seconds": seconds, "input_image_count": order.images}
        return shown | {"content": {"url": job.urls(origin)[0]}, "duration": seconds, "usage": usage}
    if shown["status"] == "failed":
        code, message = FAILURES[job.fate or "fail"]
        return shown | {"error": {"code": code, "message": message}}
    return shown
