"""OpenRouter's Videos protocol: `…/videos`, jobs; films at signed URLs, and with the key at `…/content`."""

import secrets
import time
from typing import Any

from sandbox.contents import content
from sandbox.jobs import Job, Jobs, Sale
from sandbox.openrouter import video_orders as openrouter_video_orders
from sandbox.openrouter.errors import authenticate, error, error_for, invalid
from sandbox.state import State
from sandbox.wire import Endpoint, Refusal, Request, Response, json_response

BASE = "/openrouter/api/v1"
PATH = f"{BASE}/videos"
STATUSES = {"queued": "pending", "running": "in_progress", "succeeded": "completed"}
FAILURES = {
    "fail": "The provider could not generate the video",
    "moderated-output": "The generated video was blocked by the provider's content moderation",
}


class OpenRouterVideos:
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
            ("GET", f"{BASE}/key", self.key),
        ]

    async def create(self, request: Request) -> Response:
        """POST: buys a job and answers 202."""
        self._state.audit.call("submit")
        authenticate(request)
        order = openrouter_video_orders.order_of(request.body)
        sale = Sale(kind="video", prompt=order.prompt, media=lambda partial: [order.film(partial=partial)])
        job = self._jobs.buy(request, sale, error_for, job_id=f"gen-vid-{int(time.time())}-{secrets.token_hex(10)}")
        accepted = json_response(represent(job, request.origin), 202)
        return self._jobs.answered(accepted, job, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one job."""
        self._state.audit.call("poll")
        authenticate(request)
        job = self._find(job_id)
        return self._jobs.polled(json_response(represent(job, request.origin)), [job], error_for)

    async def download(self, request: Request, job_id: str) -> Response:
        """GET of the film."""
        self._state.audit.call("download")
        authenticate(request)
        job = self._find(job_id)
        if request.query.get("index", ["0"]) != ["0"]:
            raise invalid("index", "there is one video")
        if job.status() != "succeeded":
            raise Refusal(error(409, "Video generation is not completed"))
        return await content(self._state, job, 0, error_for)

    async def key(self, request: Request) -> Response:
        """GET: describes the key; the list of models needs none."""
        authenticate(request)
        return json_response({"data": {"label": "sandbox", "limit": None, "usage": 0}})

    def _find(self, job_id: str) -> Job:
        if job := self._jobs.find(job_id):
            return job
        raise Refusal(error(404, "Video generation not found"))


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the job as the protocol shows it now."""
    was = job.status()
    polling_url = f"{origin}{PATH}/{job.id}"
    shown: dict[str, Any] = {"id": job.id, "polling_url": polling_url, "status": STATUSES.get(was, was)}
    if was == "succeeded":
        shown |= {
            "generation_id": job.id,
            "urls": job.urls(origin),
            "unsigned_urls": [f"{polling_url}/content?index=0"],
            "expires_at": int(job.ends_at + 86_400),
            "usage": {"cost": 0.1, "is_byok": False},
        }
    if was == "failed":
        shown["error"] = FAILURES[job.fate or "fail"]
    return shown
