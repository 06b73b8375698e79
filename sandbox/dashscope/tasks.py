"""Jobs of all DashScope protocols: `GET …/tasks/{id}` and `POST …/tasks/{id}/cancel`."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from sandbox.dashscope.errors import authenticate, error, error_for, request_id
from sandbox.jobs import Job, Jobs, Sale
from sandbox.state import State
from sandbox.wire import Endpoint, Refusal, Request, Response, json_response

BASE = "/dashscope/api/v1"
LIFETIME = 86_400.0
BEIJING = timezone(timedelta(hours=8))
STATUSES = {
    "queued": "PENDING",
    "running": "RUNNING",
    "succeeded": "SUCCEEDED",
    "failed": "FAILED",
    "cancelled": "CANCELED",
    "expired": "UNKNOWN",
}
FAILURES = {
    "fail": ("InternalError.Algo", "An error occured during the inference."),
    "moderated-output": ("DataInspectionFailed", "Output data may contain inappropriate content."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The `detail` of a sale: the fields of a succeeded job. `output` gets the URLs of its files."""

    output: Callable[[Job, list[str]], dict[str, Any]]
    usage: Callable[[Job], dict[str, Any]]


class Tasks:
    """All jobs of the protocols. A job takes `seconds` unless its prompt says otherwise."""

    def __init__(self, state: State, *, seconds: float) -> None:
        self._state = state
        self._jobs = Jobs(state, seconds=seconds)
        self.open_jobs = self._jobs.open_jobs

    def routes(self) -> list[Endpoint]:
        return [("GET", f"{BASE}/tasks/([^/]+)", self.get), ("POST", f"{BASE}/tasks/([^/]+)/cancel", self.cancel)]

    def buy(self, request: Request, sale: Sale) -> Response:
        """Answers a submission whose `detail` is Results. Raises Refusal."""
        if request.headers.get("x-dashscope-async") != "enable":
            raise Refusal(error(403, "AccessDenied", "current user api does not support synchronous calls."))
        job = self._jobs.buy(request, sale, error_for, job_id=str(uuid.uuid4()))
        output = {"task_id": job.id, "task_status": "PENDING"}
        return self._jobs.answered(json_response({"request_id": request_id(), "output": output}), job, error_for)

    async def get(self, request: Request, job_id: str) -> Response:
        """GET of one job; a missing job is answered with a success as well."""
        self._state.audit.call("poll")
        authenticate(request)
        job = self._jobs.find(job_id)
        if job is None:
            output = {"task_id": job_id, "task_status": "UNKNOWN"}
            return json_response({"request_id": request_id(), "output": output})
        return self._jobs.polled(json_response(represent(job, request.origin)), [job], error_for)

    async def cancel(self, request: Request, job_id: str) -> Response:
        """POST: cancels a job that has not begun, and no other."""
        self._state.audit.call("cancel")
        authenticate(request)
        job = self._jobs.find(job_id)
        if job is None or job.status() != "queued":
            message = "Failed to cancel the task, please confirm if the task is in PENDING status."
            return error(400, "UnsupportedOperation", message)
        self._jobs.cancel(job)
        return json_response({"request_id": request_id()})


def represent(job: Job, origin: str) -> dict[str, Any]:
    """Returns the job as the protocol shows it now."""
    now = time.time()
    status = job.status(now)
    output: dict[str, Any] = {"task_id": job.id, "task_status": STATUSES[status]}
    shown: dict[str, Any] = {"request_id": request_id(), "output": output}
    if status == "expired":
        return shown
    output |= {"submit_time": local(job.created_at)}
    if status != "queued":
        output |= {"scheduled_time": local(job.starts_at)}
    if status == "succeeded":
        output |= {"end_time": local(job.ends_at), **job.detail.output(job, job.urls(origin))}
        shown["usage"] = job.detail.usage(job)
    if status == "failed":
        output |= dict(zip(("code", "message"), FAILURES[job.fate or "fail"], strict=True))
    return shown


def local(seconds: float) -> str:
    """Formats a time like the provider."""
    return datetime.fromtimestamp(seconds, BEIJING).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
