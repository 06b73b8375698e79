"""fal's queue below `/fal`: `POST /{owner}/{app}[/…]` buys a request; its addresses contain only owner and app."""

import json
import uuid
from typing import Any

from sandbox.jobs import Job, Jobs, Sale
from sandbox.model_inputs import BadInput, Order, order_of
from sandbox.state import State
from sandbox.steering import Word
from sandbox.wire import Endpoint, Refusal, Request, Response, json_response

APP = "/fal/([^/]+/[^/]+)"
REQUEST = f"{APP}/requests/([^/]+)"
CONTENT = "The content could not be processed because it contains material flagged by a content checker."
BROKEN = "The runner failed to process the request."


class Fal:
    """The endpoints and their requests. A request takes `video_seconds` unless its prompt says otherwise."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=video_seconds)
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", "/fal/([^/]+/[^/]+(?:/[^/]+)*)", self.submit),
            ("GET", f"{REQUEST}/status", self.status),
            ("GET", REQUEST, self.result),
            ("PUT", f"{REQUEST}/cancel", self.cancel),
        ]

    async def submit(self, request: Request, model: str) -> Response:
        """POST: buys a request and returns where to ask for it."""
        self._state.audit.call("submit")
        authenticate(request)
        if key_of(request) == "broke":
            locked = "User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing."
            raise Refusal(json_response({"detail": locked}, 403))
        order = read(request.body, model)
        kind = "video" if order.is_video else "image"
        sale = Sale(kind=kind, prompt=order.prompt, media=order.media, detail=order)
        job = self._jobs.buy(request, sale, error_for, job_id=str(uuid.uuid4()))
        shown = {"status": "IN_QUEUE", "queue_position": 0, **addresses(job, request.origin)}
        return self._jobs.answered(json_response(shown), job, error_for)

    async def status(self, request: Request, app: str, job_id: str) -> Response:
        """GET: 202 until the request has ended."""
        self._state.audit.call("poll")
        job = self._find(request, app, job_id)
        shown: dict[str, Any] = addresses(job, request.origin)
        state = job.status()
        if state == "queued":
            shown |= {"status": "IN_QUEUE", "queue_position": 0}
        elif state == "running":
            shown |= {"status": "IN_PROGRESS", "logs": None}
        else:
            shown |= {"status": "COMPLETED", "logs": None, "metrics": {"inference_time": job.ends_at - job.starts_at}}
        if state == "cancelled":
            shown |= {"error": "Request was cancelled", "error_type": "request_cancelled"}
        elif state in ("failed", "expired") and job.fate != "moderated-output":
            shown |= {"error": BROKEN, "error_type": "runner_server_error"}
        is_open = state in ("queued", "running")
        return self._jobs.polled(json_response(shown, 202 if is_open else 200), [job], error_for)

    async def result(self, request: Request, app: str, job_id: str) -> Response:
        """GET: the model's own answer, even if it refused."""
        self._state.audit.call("poll")
        job = self._find(request, app, job_id)
        match job.status():
            case "queued" | "running":
                return json_response({"detail": "Request is still in progress"}, 400)
            case "failed" if job.fate == "moderated-output":
                return json_response(detail("prompt", "content_policy_violation", CONTENT), 422)
            case "succeeded":
                return json_response(represent(job, request.origin))
            case _:
                return json_response(detail("", "internal_server_error", BROKEN), 500)

    async def cancel(self, request: Request, app: str, job_id: str) -> Response:
        """PUT: cancels a request that has not ended; a running one may still finish."""
        self._state.audit.call("cancel")
        job = self._find(request, app, job_id)
        state = job.status()
        if state == "queued":
            self._jobs.cancel(job)
        if state in ("queued", "running"):
            return json_response({"status": "CANCELLATION_REQUESTED"}, 202)
        return json_response({"status": "ALREADY_COMPLETED"}, 400)

    def _find(self, request: Request, app: str, job_id: str) -> Job:
        authenticate(request)
        job = self._jobs.find(job_id)
        if job is None or app_of(job.detail) != app:
            raise Refusal(json_response({"detail": "Request not found"}, 404))
        return job


def key_of(request: Request) -> str:
    """Returns the key of `Authorization: Key`, or an empty string."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme == "Key" else ""


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong`. Raises Refusal."""
    if key_of(request) in ("", "wrong"):
        raise Refusal(json_response({"detail": "Cannot access application. Authentication is required."}, 401))


def read(body: bytes, model: str) -> Order:
    """Reads the order. Raises Refusal."""
    if model.endswith("no-such-model"):
        raise Refusal(json_response({"detail": f"Application '{model}' not found"}, 404))
    try:
        return order_of(model, json.loads(body))
    except ValueError as problem:
        raise Refusal(json_response(detail("", "json_invalid", "JSON decode error"), 422)) from problem
    except BadInput as bad:
        raise Refusal(json_response(detail(bad.field, bad.kind, bad.message), 422)) from bad


def app_of(order: Order) -> str:
    return "/".join(order.model.split("/")[:2])


def addresses(job: Job, origin: str) -> dict[str, str]:
    """Returns the request's id and addresses."""
    base = f"{origin}/fal/{app_of(job.detail)}/requests/{job.id}"
    return {
        "request_id": job.id,
        "response_url": base,
        "status_url": f"{base}/status",
        "cancel_url": f"{base}/cancel",
    }


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the model's answer."""
    files = [
        {"url": url, "content_type": media.content_type, "file_name": name}
        for url, media, name in zip(job.urls(origin), job.media, job.files, strict=True)
    ]
    order: Order = job.detail
    if order.is_video:
        half = job.fate == "partial"
        return {"video": {**files[0], "duration": float(max(1, order.seconds // 2) if half else order.seconds)}}
    return {"images": files, "seed": 42, "has_nsfw_concepts": [False] * len(files), "prompt": order.prompt}


def detail(field: str, kind: str, message: str) -> dict[str, Any]:
    """Returns the body of an error in the input or the model."""
    place = ["body", field] if field else ["body"]
    return {"detail": [{"loc": place, "msg": message, "type": kind, "url": f"https://docs.fal.ai/errors#{kind}"}]}


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated":
            return json_response(detail("prompt", "content_policy_violation", CONTENT), 422)
        case "rate-limited":
            return json_response({"detail": "Too many requests"}, 429, {"retry-after": "1"})
        case "status":
            return json_response({"detail": f"Status {int(word.number or 500)}, as asked."}, int(word.number or 500))
        case _:
            return json_response(detail("", "internal_server_error", BROKEN), 500)
