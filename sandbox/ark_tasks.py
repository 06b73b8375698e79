"""The Ark content-generation protocol: `…/contents/generations/tasks`, asynchronous video jobs."""

import secrets
import time
from collections.abc import Iterable
from typing import Any

from sandbox import ark_jobs, ark_orders, steering
from sandbox.ark_errors import authenticate, error, error_for, invalid, unknown_task
from sandbox.ark_jobs import Job
from sandbox.films import FRAME_SIZES
from sandbox.pictures import Picture
from sandbox.state import File, State
from sandbox.steering import CALL_FAULTS, POLL, SUBMIT
from sandbox.wire import Request, Response, json_response

REFUSALS = ("moderated", "rate-limited", "status")
FATES = ("fail", "moderated-output", "partial")
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
        self._video_seconds = video_seconds
        self._jobs: dict[str, Job] = {}

    async def create(self, request: Request) -> Response:
        """POST: buys a job and answers its id."""
        self._state.audit.call("submit")
        authenticate(request)
        order, turns = ark_orders.order_of(request.body), self._state.turns
        script = steering.read(order.prompt)
        if word := turns.take(script, SUBMIT, order.prompt, REFUSALS):
            return error_for(word)
        self._state.audit.buy("video", order.prompt, request.headers.get("x-client-request-id"))
        fate = turns.take(script, SUBMIT, order.prompt, FATES)
        job = self._accept(order, script, fate.name if fate else None)
        loss = turns.take(script, SUBMIT, order.prompt, steering.LOSSES)
        return steering.struck(json_response({"id": job.id}), loss, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one job."""
        self._state.audit.call("poll")
        authenticate(request)
        job = self._find(job_id)
        return self._polled(json_response(represent(job, request.origin)), [job])

    async def search(self, request: Request) -> Response:
        """GET of many: newest first, filtered and paged as the query says."""
        self._state.audit.call("poll")
        authenticate(request)
        jobs = self._filtered(request)
        page, size = whole(request, "page_num", 1), whole(request, "page_size", DEFAULT_PAGE_SIZE)
        shown = jobs[(page - 1) * size : page * size]
        items = [represent(job, request.origin) for job in shown]
        return self._polled(json_response({"items": items, "total": len(jobs)}), shown)

    async def delete(self, request: Request, job_id: str) -> Response:
        """DELETE: cancels a queued job, refuses for a running one, forgets an ended one."""
        self._state.audit.call("cancel")
        authenticate(request)
        job, now = self._find(job_id), time.time()
        match job.status(now):
            case "queued":
                job.canceled_at = now
                self._state.audit.cancel()
            case "running" | "cancelled" as status:
                message = f"The task is {status} and cannot be deleted."
                return error(409, "InvalidAction", message, kind="Conflict")
            case _:
                del self._jobs[job_id]
        return json_response({})

    def open_jobs(self) -> int:
        """How many jobs are queued or running now."""
        now = time.time()
        return sum(job.status(now) in ("queued", "running") for job in self._jobs.values())

    def _accept(self, order: ark_jobs.Order, script: steering.Script, fate: str | None) -> Job:
        now = time.time()
        starts_at, ends_at = ark_jobs.schedule(script, now, self._video_seconds)
        job = Job(
            id=f"cgt-{time.strftime('%Y%m%d%H%M%S', time.gmtime(now))}-{secrets.token_hex(5)}",
            order=order,
            script=script,
            film=order.film(partial=fate == "partial"),
            fate=fate,
            created_at=now,
            starts_at=starts_at,
            ends_at=ends_at,
        )
        self._jobs[job.id] = job
        self._state.files[f"{job.id}.mp4"] = File(media=job.film, script=script)
        if order.last_frame:
            width, height = FRAME_SIZES[order.ratio]
            picture = Picture(prompt=order.prompt, width=width, height=height)
            self._state.files[f"{job.id}.png"] = File(media=picture, script=script)
        return job

    def _find(self, job_id: str) -> Job:
        if job := self._jobs.get(job_id):
            return job
        raise unknown_task()

    def _filtered(self, request: Request) -> list[Job]:
        now = time.time()
        ids = [part for value in request.query.get("filter.task_ids", ()) for part in value.split(",") if part]
        chosen = dict.fromkeys(ids) if ids else reversed(self._jobs)
        jobs: Iterable[Job] = (self._jobs[job_id] for job_id in chosen if job_id in self._jobs)
        if status := "".join(request.query.get("filter.status", ())):
            jobs = (job for job in jobs if job.status(now) == status)
        if model := "".join(request.query.get("filter.model", ())):
            jobs = (job for job in jobs if job.order.model == model)
        return sorted(jobs, key=lambda job: job.created_at, reverse=True)

    def _polled(self, response: Response, jobs: Iterable[Job]) -> Response:
        takes = (self._state.turns.take(job.script, POLL, job.id, CALL_FAULTS) for job in jobs if job.script.words)
        return steering.struck(response, next(filter(None, takes), None), error_for)


def whole(request: Request, name: str, default: int) -> int:
    """A page number or size of the query. Raises Refusal."""
    text = "".join(request.query.get(name, [str(default)]))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_PAGE:
        raise invalid(name, f"a number from 1 to {MAX_PAGE} is expected")
    return int(text)


def represent(job: Job, origin: str) -> dict[str, Any]:
    """The job as the protocol shows it now."""
    now = time.time()
    status = job.status(now)
    shown: dict[str, Any] = {
        "id": job.id,
        "model": job.order.model,
        "status": status,
        "created_at": int(job.created_at),
        "updated_at": int(job.updated_at(now)),
        "service_tier": job.order.service_tier,
        "execution_expires_after": job.order.expires_after,
    }
    if status == "succeeded":
        shown |= result(job, origin)
    if status == "failed":
        code, message = FAILURES[job.fate or "fail"]
        shown["error"] = {"code": code, "message": message}
    return shown


def result(job: Job, origin: str) -> dict[str, Any]:
    """What a job shows once it has succeeded."""
    order = job.order
    content = {"video_url": f"{origin}/files/{job.id}.mp4"}
    if order.last_frame:
        content["last_frame_url"] = f"{origin}/files/{job.id}.png"
    width, height = job.film.size
    tokens = width * height * FRAMES_PER_SECOND * job.film.seconds // 1_024
    return {
        "content": content,
        "seed": order.seed,
        "resolution": order.resolution,
        "ratio": order.ratio,
        "duration": job.film.seconds,
        "framespersecond": FRAMES_PER_SECOND,
        "generate_audio": order.sound,
        "usage": {"completion_tokens": tokens, "total_tokens": tokens},
    }
