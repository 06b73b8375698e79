"""Ark's content-generation protocol: `…/contents/generations/tasks`, asynchronous video jobs."""

import secrets
import time
from collections.abc import Iterable
from typing import Any

from sandbox.ark import orders as ark_orders
from sandbox.ark.errors import authenticate, error, error_for, invalid, unknown_task
from sandbox.ark.orders import Order
from sandbox.films import FRAME_SIZES, Film
from sandbox.jobs import Job, Jobs, Sale
from sandbox.pictures import Picture
from sandbox.state import State
from sandbox.wire import Endpoint, Request, Response, json_response

PATH = "/ark/api/v3/contents/generations/tasks"
MAX_PAGE = 500
DEFAULT_PAGE_SIZE = 10
FRAMES_PER_SECOND = 24
FAILURES = {
    "fail": ("InternalServiceError", "The service encountered an unexpected internal error."),
    "moderated-output": (
        "OutputVideoSensitiveContentDetected",
        "The request failed because the output video may contain sensitive information.",
    ),
}


class ArkTasks:
    """The four endpoints and their jobs. A job takes `video_seconds` unless its prompt says otherwise."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=video_seconds)
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", PATH, self.create),
            ("GET", PATH, self.search),
            ("GET", f"{PATH}/([^/]+)", self.get),
            ("DELETE", f"{PATH}/([^/]+)", self.delete),
        ]

    async def create(self, request: Request) -> Response:
        """POST: buys a job and returns its id."""
        self._state.audit.call("submit")
        authenticate(request)
        order = ark_orders.order_of(request.body)
        sale = Sale(
            kind="video",
            prompt=order.prompt,
            media=lambda partial: media_of(order, partial=partial),
            detail=order,
            lifetime=order.expires_after,
        )
        job_id = f"cgt-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}-{secrets.token_hex(5)}"
        job = self._jobs.buy(request, sale, error_for, job_id=job_id)
        return self._jobs.answered(json_response({"id": job.id}), job, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one job."""
        self._state.audit.call("poll")
        authenticate(request)
        job = self._find(job_id)
        return self._jobs.polled(json_response(represent(job, request.origin)), [job], error_for)

    async def search(self, request: Request) -> Response:
        """GET of several: newest first, filtered and paged by the query."""
        self._state.audit.call("poll")
        authenticate(request)
        jobs = self._filtered(request)
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
            case "running" | "cancelled" as status:
                message = f"The task is {status} and cannot be deleted."
                return error(409, "InvalidAction", message, kind="Conflict")
            case _:
                self._jobs.forget(job)
        return json_response({})

    def _find(self, job_id: str) -> Job:
        if job := self._jobs.find(job_id):
            return job
        raise unknown_task()

    def _filtered(self, request: Request) -> list[Job]:
        now = time.time()
        ids = [part for value in request.query.get("filter.task_ids", ()) for part in value.split(",") if part]
        jobs: Iterable[Job] = self._jobs.all()
        if ids:
            jobs = filter(None, map(self._jobs.find, dict.fromkeys(ids)))
        if status := "".join(request.query.get("filter.status", ())):
            jobs = (job for job in jobs if job.status(now) == status)
        if model := "".join(request.query.get("filter.model", ())):
            jobs = (job for job in jobs if job.detail.model == model)
        return sorted(jobs, key=lambda job: job.created_at, reverse=True)


def media_of(order: Order, *, partial: bool) -> list[Film | Picture]:
    """Returns the film, and its last frame if asked for."""
    media: list[Film | Picture] = [order.film(partial=partial)]
    if order.last_frame:
        width, height = FRAME_SIZES[order.ratio]
        media.append(Picture(prompt=order.prompt, width=width, height=height))
    return media


def whole(request: Request, name: str, default: int) -> int:
    """Returns a page number or size from the query. Raises Refusal."""
    text = "".join(request.query.get(name, [str(default)]))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_PAGE:
        raise invalid(name, f"a number from 1 to {MAX_PAGE} is expected")
    return int(text)


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the job as the protocol shows it now."""
    now = time.time()
    status = job.status(now)
    shown: dict[str, Any] = {
        "id": job.id,
        "model": job.detail.model,
        "status": status,
        "created_at": int(job.created_at),
        "updated_at": int(job.updated_at(now)),
        "service_tier": job.detail.service_tier,
        "execution_expires_after": job.detail.expires_after,
    }
    if status == "succeeded":
        shown |= result(job, origin)
    if status == "failed":
        code, message = FAILURES[job.fate or "fail"]
        shown["error"] = {"code": code, "message": message}
    return shown


def result(job: Job, origin: str) -> dict[str, Any]:
    """Returns the fields of a succeeded job."""
    order: Order = job.detail
    film = job.media[0]
    if not isinstance(film, Film):
        raise TypeError("a job makes a film first")
    content = dict(zip(("video_url", "last_frame_url"), job.urls(origin), strict=False))
    width, height = film.size
    tokens = width * height * FRAMES_PER_SECOND * film.seconds // 1_024
    return {
        "content": content,
        "seed": order.seed,
        "resolution": order.resolution,
        "ratio": order.ratio,
        "duration": film.seconds,
        "framespersecond": FRAMES_PER_SECOND,
        "generate_audio": order.sound,
        "usage": {"completion_tokens": tokens, "total_tokens": tokens},
    }
