"""Replicate below `/replicate/v1`: predictions of models by name or by version."""

import json
import secrets
from datetime import UTC, datetime
from typing import Any

from sandbox.jobs import Job, Jobs, Sale
from sandbox.model_inputs import BadInput, Order, order_of
from sandbox.state import State
from sandbox.steering import Word
from sandbox.wire import Endpoint, Refusal, Request, Response, json_response

PREFIX = "/replicate/v1"
FIELDS = ("input", "version", "webhook", "webhook_events_filter", "stream")
STATUSES = {"queued": "starting", "running": "processing", "succeeded": "succeeded", "cancelled": "canceled"}
FLAGGED = "The input or output was flagged as sensitive. Please try again with different inputs. (E005)"
FAILURES = {"fail": "Prediction interrupted; please retry (code: PA)", "moderated-output": FLAGGED}


class Replicate:
    """The endpoints and their predictions, which take `video_seconds` unless their prompt says otherwise."""

    def __init__(self, state: State, *, video_seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=video_seconds)
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [
            ("POST", f"{PREFIX}/models/([^/]+/[^/]+)/predictions", self.create),
            ("POST", f"{PREFIX}/predictions", self.create),
            ("GET", f"{PREFIX}/predictions/([^/]+)", self.get),
            ("POST", f"{PREFIX}/predictions/([^/]+)/cancel", self.cancel),
            ("GET", f"{PREFIX}/account", self.account),
        ]

    async def create(self, request: Request, model: str = "") -> Response:
        """POST: buys a prediction."""
        self._state.audit.call("submit")
        authenticate(request)
        if request.bearer == "broke":
            message = "You have insufficient credit to run this model. Go to replicate.com/account/billing."
            raise Refusal(problem(402, "Insufficient credit", message))
        order = read(request.body, model)
        kind = "video" if order.is_video else "image"
        sale = Sale(kind=kind, prompt=order.prompt, media=order.media, detail=order)
        job = self._jobs.buy(request, sale, error_for, job_id=secrets.token_hex(13))
        return self._jobs.answered(json_response(represent(job, request.origin), 201), job, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one prediction."""
        self._state.audit.call("poll")
        job = self._find(request, job_id)
        return self._jobs.polled(json_response(represent(job, request.origin)), [job], error_for)

    async def cancel(self, request: Request, job_id: str) -> Response:
        """POST: cancels a prediction that has not ended, and returns it."""
        self._state.audit.call("cancel")
        job = self._find(request, job_id)
        if job.status() in ("queued", "running"):
            self._jobs.cancel(job)
        return json_response(represent(job, request.origin))

    async def account(self, request: Request) -> Response:
        """GET: the owner of the key."""
        authenticate(request)
        return json_response({"type": "organization", "username": "sandbox", "name": "Sandbox"})

    def _find(self, request: Request, job_id: str) -> Job:
        authenticate(request)
        if job := self._jobs.find(job_id):
            return job
        raise Refusal(problem(404, "Not found", "The requested resource could not be found."))


def authenticate(request: Request) -> None:
    """Accepts any key but `wrong`. Raises Refusal."""
    if request.bearer in ("", "wrong"):
        message = "You did not pass a valid authentication token"
        raise Refusal(problem(401, "Unauthenticated", message))


def read(body: bytes, model: str) -> Order:
    """Returns the body's order; without a model in the path, the version is its name. Raises Refusal."""
    try:
        fields = json.loads(body)
    except ValueError as bad:
        raise Refusal(problem(400, "Invalid JSON", "The request body is no valid JSON.")) from bad
    required = {"input"} if model else {"input", "version"}
    if not isinstance(fields, dict) or not required <= set(fields) <= set(FIELDS):
        raise Refusal(problem(422, "Request body validation failed", "- input is required, others must be known"))
    name = model or str(fields["version"])
    if name.endswith("no-such-model"):
        raise Refusal(problem(404, "Not found", "The requested resource could not be found."))
    try:
        return order_of(name, fields["input"])
    except BadInput as bad:
        raise Refusal(problem(422, "Input validation failed", f"- input.{bad.field}: {bad.message}")) from bad


def problem(status: int, title: str, detail: str) -> Response:
    """Returns an error body (RFC 7807)."""
    headers = {"retry-after": "1"} if status == 429 else {}
    return json_response({"title": title, "detail": detail, "status": status}, status, headers)


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the prediction as it is now. Films have one address as output, pictures a list."""
    status = job.status()
    order: Order = job.detail
    base = f"{origin}{PREFIX}/predictions/{job.id}"
    shown: dict[str, Any] = {
        "id": job.id,
        "model": order.model,
        "version": "hidden",
        "input": order.fields,
        "status": STATUSES.get(status, "failed"),
        "error": None,
        "output": None,
        "logs": "",
        "created_at": datetime.fromtimestamp(job.created_at, UTC).isoformat(),
        "urls": {"get": base, "cancel": f"{base}/cancel"},
    }
    if status == "succeeded":
        urls = job.urls(origin)
        shown["output"] = urls[0] if order.is_video else urls
    elif status in ("failed", "expired"):
        shown["error"] = FAILURES[job.fate or "fail"]
    return shown


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated":
            return problem(422, "Input flagged", FLAGGED)
        case "rate-limited":
            return problem(429, "Too many requests", "Request was throttled. Your rate limit resets in 1s.")
        case "status":
            return problem(int(word.number or 500), "Status", f"Status {int(word.number or 500)}, as asked.")
        case _:
            return problem(500, "Internal server error", "An unexpected error occurred.")
