"""OpenAI's Videos protocol: `…/videos`, asynchronous jobs; films at `…/videos/{id}/content` need the key."""

import secrets
import time
from typing import Any

from sandbox.contents import content
from sandbox.films import Film
from sandbox.jobs import Job, Jobs, Sale
from sandbox.openai import errors as openai_errors
from sandbox.openai import video_orders as openai_video_orders
from sandbox.openai.errors import authenticate, error, invalid
from sandbox.openai.video_orders import Order
from sandbox.state import State
from sandbox.steering import Word
from sandbox.wire import Endpoint, Refusal, Request, Response, json_response

BASE = "/openai/v1"
PATH = f"{BASE}/videos"
STATUSES = {"queued": "queued", "running": "in_progress", "succeeded": "completed"}
FAILURES = {
    "fail": {"code": "video_generation_failed", "message": "The video could not be generated."},
    "moderated-output": {"code": "moderation_blocked", "message": "The video was blocked by our moderation system."},
}


class OpenAIVideos:
    """The endpoints and their jobs. A job takes `video_seconds` unless its prompt says otherwise."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=video_seconds)
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", PATH, self.create),
            ("GET", f"{PATH}/([^/]+)", self.get),
            ("GET", f"{PATH}/([^/]+)/content", self.download),
            ("DELETE", f"{PATH}/([^/]+)", self.delete),
            ("GET", f"{BASE}/models", self.models),
        ]

    async def create(self, request: Request) -> Response:
        """POST: buys a job and returns it."""
        self._state.audit.call("submit")
        authenticate(request)
        order = openai_video_orders.order_of(request)
        sale = Sale(
            kind="video",
            prompt=order.prompt,
            media=lambda partial: [order.film(partial=partial)],
            detail=order,
        )
        job = self._jobs.buy(request, sale, error_for, job_id=f"video_{secrets.token_hex(16)}")
        return self._jobs.answered(json_response(represent(job)), job, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one job."""
        self._state.audit.call("poll")
        authenticate(request)
        job = self._find(job_id)
        return self._jobs.polled(json_response(represent(job)), [job], error_for)

    async def download(self, request: Request, job_id: str) -> Response:
        """GET of the film."""
        self._state.audit.call("download")
        authenticate(request)
        job = self._find(job_id)
        if request.query.get("variant", ["video"]) != ["video"]:
            raise invalid("variant", "Only the variant 'video' is available here.")
        if job.status() != "succeeded":
            raise Refusal(error(400, "The video is not ready yet.", code="video_not_ready"))
        return await content(self._state, job, 0, error_for)

    async def delete(self, request: Request, job_id: str) -> Response:
        """DELETE: deletes an ended job, refuses for others: nothing can be cancelled."""
        self._state.audit.call("cancel")
        authenticate(request)
        job = self._find(job_id)
        if job.status() in ("queued", "running"):
            raise Refusal(error(400, "The video is still being generated.", code="video_not_ready"))
        self._jobs.forget(job)
        return json_response({"id": job_id, "object": "video.deleted", "deleted": True})

    async def models(self, request: Request) -> Response:
        """GET: a free call that needs the key."""
        authenticate(request)
        return json_response({"object": "list", "data": []})

    def _find(self, job_id: str) -> Job:
        if job := self._jobs.find(job_id):
            return job
        raise Refusal(error(404, f"Video with id '{job_id}' not found."))


def represent(job: Job) -> dict[str, Any]:
    """Returns the job as the protocol shows it now."""
    order: Order = job.detail
    film = job.media[0]
    if not isinstance(film, Film):
        raise TypeError("a job makes a film")
    status = STATUSES.get(job.status(), "failed")
    has_ended = status in ("completed", "failed")
    return {
        "id": job.id,
        "object": "video",
        "model": order.model,
        "status": status,
        "progress": 100 if status == "completed" else int(job.progress() * 99),
        "created_at": int(job.created_at),
        "completed_at": int(job.updated_at(time.time())) if has_ended else None,
        "expires_at": int(job.ends_at + 3_600) if status == "completed" else None,
        "seconds": str(film.seconds if status == "completed" else order.seconds),
        "size": order.size,
        "prompt": order.prompt,
        "remixed_from_video_id": None,
        "error": FAILURES[job.fate or "fail"] if status == "failed" else None,
    }


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    if word.name == "fail":
        return error(500, "The server had an error while processing your request.", kind="server_error")
    return openai_errors.error_for(word)
