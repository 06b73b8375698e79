"""The OpenRouter Videos protocol: asynchronous jobs on many providers' models, polled one by one.

Facts: OpenRouter's SDK 1.3.84 (paths, fields, states). What a job costs (`usage.cost`) is the catalog's matter.
`openrouter/videos_request.py` is the pure half.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Output,
    Pending,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.kit import rules
from adapters.kit.error_kinds import Verdict, spoken_error
from adapters.kit.http import call_json, job_error
from adapters.kit.outputs import is_own, is_url
from adapters.kit.shapes import Asynchronous, id_of
from adapters.openrouter import errors as openrouter_errors
from adapters.openrouter import videos_request as openrouter_videos_request
from adapters.openrouter.errors import is_content, spoken, verdict_of
from adapters.openrouter.videos_request import PATH

Job = dict[str, Any]

CAPABILITIES = rules.VIDEO_CAPABILITIES
OPTIONS = {"poll_seconds": rules.POLL_SECONDS}
ENDED_BADLY = ("failed", "cancelled", "canceled", "expired")


class OpenRouterVideos(Asynchronous):
    """Adapter of `openrouter_videos`."""

    protocol: ClassVar[str] = "openrouter_videos"
    modalities: ClassVar[frozenset[str]] = frozenset({"video"})
    summary: ClassVar[str] = "OpenRouter video jobs on many providers' models"
    error_codes: ClassVar[Mapping[str, Verdict]] = openrouter_errors.CODES
    capabilities: ClassVar[rules.Rules] = CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS
    poll_seconds: ClassVar[float] = 10.0
    probe_path: ClassVar[str] = "/key"  # the list of models needs none

    def codes(self, code: str) -> Verdict | None:
        return verdict_of(code)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(openrouter_videos_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return openrouter_videos_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        headers = {"Content-Type": "application/json"}
        body = json.dumps(upstream.body).encode()
        call = self.call("POST", upstream.path, paid=True, headers=headers, body=body, spoken=spoken)
        document = call_json(call, connection, lambda document: bool(id_of(document.get("id"))))
        return Accepted(handle={"id": id_of(document["id"])}, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        job = self._job(handle["id"], connection)
        if job["status"] == "completed":
            url = _url(job, handle["id"], connection)
            return Done(outputs=(Output(index=0, kind="video", url=url),))
        if job["status"] in ENDED_BADLY:
            return _failure(job, connection)
        return Pending(poll_after=self.poll_after(connection))

    def _job(self, job_id: str, connection: Connection) -> Job:
        """One job. Raises UpstreamError: EMPTY_RESULT if the provider says that there is none, else a poll fault."""
        call = self.call("GET", _path(job_id), spoken=spoken)
        try:
            return call_json(call, connection, lambda document: isinstance(document.get("status"), str))
        except UpstreamError as error:
            raise error.as_kind(_poll_kind(error)) from error


def _poll_kind(error: UpstreamError) -> ErrorKind:
    """What a failed poll says. Only the protocol's own error body ends a job: a proxy's 404 says nothing about it."""
    if error.http_status == 404 and error.code == "404":
        return ErrorKind.EMPTY_RESULT
    if error.kind in (ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY, ErrorKind.AMBIGUOUS):
        return ErrorKind.TRANSIENT
    return error.kind


def _url(job: Job, job_id: str, connection: Connection) -> str:
    """The signed URL, else the one that takes our key, else the protocol's own path."""
    signed = next(filter(is_url, _list(job.get("urls"))), None)
    unsigned = next((url for url in _list(job.get("unsigned_urls")) if is_url(url) and is_own(url, connection)), None)
    return signed or unsigned or f"{connection.base_url.rstrip('/')}{_path(job_id)}/content?index=0"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _failure(job: Job, connection: Connection) -> UpstreamError:
    error = spoken_error(job)
    kind = ErrorKind.CONTENT_POLICY if is_content(error.message) else ErrorKind.PROVIDER_FAILED
    return job_error(kind, error, connection, f"the job ended as {job['status']}")


def _path(job_id: str) -> str:
    return f"{PATH}/{quote(job_id, safe='')}"
