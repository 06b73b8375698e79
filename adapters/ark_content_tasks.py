"""The Ark (BytePlus, Volcengine) content generation protocol: asynchronous video jobs, polled in batches.

Facts: Volcengine's documentation of the video generation API and its Ark runtime SDK 5.0.54 (request fields; the list
filter repeated as `filter.task_ids=a&filter.task_ids=b`). `ark_request` is the pure half.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

from adapters import ark_request, rules
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
from adapters.faults import NOT_HERE, Verdict, spoken_error
from adapters.http import Call, call_json, calling, redacted
from adapters.outputs import is_url
from adapters.shapes import Asynchronous, is_id, seconds_of

Job = dict[str, Any]

CAPABILITIES = rules.VIDEO_CAPABILITIES
OPTIONS = {"dialect": rules.one_of("ark"), "poll_seconds": rules.POLL_SECONDS}
# By the part before the first dot: codes come with a suffix such as InvalidParameter.OversizeImage.
CODES = {
    "AuthenticationError": Verdict(ErrorKind.AUTH),
    "AccessDenied": Verdict(ErrorKind.AUTH),
    "ModelNotOpen": NOT_HERE,
    "InvalidEndpointOrModel": NOT_HERE,
    "AccountOverdueError": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "QuotaExceeded": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "ServerOverloaded": Verdict(ErrorKind.OVERLOADED),
    "ModelLoadingError": Verdict(ErrorKind.OVERLOADED),
    "MissingParameter": Verdict(ErrorKind.INVALID_REQUEST),
    "InvalidParameter": Verdict(ErrorKind.INVALID_REQUEST),
}
REFUSALS = (ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY)


def verdict_of(code: str) -> Verdict | None:
    if "SensitiveContentDetected" in code:
        return Verdict(ErrorKind.CONTENT_POLICY)
    if "RateLimitExceeded" in code:
        return Verdict(ErrorKind.RATE_LIMITED)
    return CODES.get(code.partition(".")[0])


class ArkContentTasks(Asynchronous):
    """Adapter of `ark_content_tasks`. A handle is `{"id": …, "last_frame": whether one was asked for}`."""

    protocol: ClassVar[str] = "ark_content_tasks"
    modalities: ClassVar[frozenset[str]] = frozenset({"video"})
    poll_batch: ClassVar[int] = 50
    probe_path: ClassVar[str] = f"{ark_request.PATH}/probe"

    def codes(self, code: str) -> Verdict | None:
        return verdict_of(code)

    def validate(self, target: Target) -> list[str]:
        return rules.complaints(target, capabilities=CAPABILITIES, options=OPTIONS)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(ark_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return ark_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        call = Call(
            method="POST",
            path=upstream.path,
            codes=verdict_of,
            paid=True,
            headers={"Content-Type": "application/json"},
            body=json.dumps(upstream.body).encode(),
        )
        document = call_json(call, connection, lambda document: is_id(document.get("id")))
        handle = {"id": document["id"], "last_frame": upstream.body.get("return_last_frame") is True}
        return Accepted(handle=handle, poll_after=self.poll_after(connection))

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        jobs = _jobs([handle["id"] for handle in handles], connection)
        return [_state(jobs[handle["id"]], handle, connection) for handle in handles]

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Deletes the job, once it is seen to be unfinished: of a finished one that would delete the result."""
        try:
            if _job(handle["id"], connection).get("status") not in ("queued", "running"):
                return False
            with calling(Call(method="DELETE", path=_path(handle["id"]), codes=verdict_of), connection):
                return True
        except UpstreamError:
            return False

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        return {**super().attach(upstream_id, target), "last_frame": False}


def _jobs(ids: Sequence[str], connection: Connection) -> dict[str, Job | UpstreamError]:
    """One list call for many jobs. A job that the list does not show is asked for by itself: lists lag, and reach back
    a few days only. A fault met while asking stands for all that is still unknown."""
    jobs: dict[str, Job | UpstreamError] = dict(_listed(ids, connection)) if len(ids) > 1 else {}
    for missing in [job_id for job_id in ids if job_id not in jobs]:
        try:
            jobs[missing] = _job(missing, connection)
        except UpstreamError as error:
            jobs[missing] = error
            if error.kind is not ErrorKind.EMPTY_RESULT:
                return {**dict.fromkeys(ids, error), **jobs}
    return jobs


def _listed(ids: Sequence[str], connection: Connection) -> dict[str, Job]:
    """The jobs that the provider lists, by id; none where it has no list. Raises UpstreamError."""
    query = [("page_num", 1), ("page_size", len(ids)), *(("filter.task_ids", job_id) for job_id in ids)]
    call = Call(method="GET", path=f"{ark_request.PATH}?{urlencode(query)}", codes=verdict_of)
    try:
        items = call_json(call, connection).get("items")
    except UpstreamError as error:
        if error.kind is ErrorKind.INVALID_REQUEST:
            return {}
        raise
    jobs = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return {str(job.get("id")): job for job in jobs if isinstance(job.get("status"), str)}


def _job(job_id: str, connection: Connection) -> Job:
    """One job. Raises UpstreamError: EMPTY_RESULT if the provider says that there is none, else a poll fault."""
    call = Call(method="GET", path=_path(job_id), codes=verdict_of)
    try:
        return call_json(call, connection, lambda document: isinstance(document.get("status"), str))
    except UpstreamError as error:
        kind = ErrorKind.TRANSIENT
        # Only in the protocol's own words: a proxy's bare 404 says nothing about the job.
        if error.http_status == 404 and error.code and verdict_of(error.code) is not NOT_HERE:
            kind = ErrorKind.EMPTY_RESULT
        elif error.kind not in REFUSALS:
            raise
        raise UpstreamError(kind, error.message, code=error.code, http_status=error.http_status) from error


def _state(
    job: Job | UpstreamError, handle: Mapping[str, Any], connection: Connection
) -> Pending | Done | UpstreamError:
    if isinstance(job, UpstreamError):
        return job
    if job["status"] == "succeeded":
        return _done(job, handle)
    if job["status"] not in ("failed", "cancelled", "canceled", "expired"):
        return Pending(poll_after=_poll_after(connection))
    error = spoken_error(job)
    verdict = verdict_of(error.code)
    is_content = verdict is not None and verdict.kind is ErrorKind.CONTENT_POLICY
    return UpstreamError(
        ErrorKind.CONTENT_POLICY if is_content else ErrorKind.PROVIDER_FAILED,
        redacted(error.message, connection) or f"the job ended as {job['status']}",
        code=error.code,
    )


def _done(job: Job, handle: Mapping[str, Any]) -> Done | UpstreamError:
    content = job.get("content")
    urls = content if isinstance(content, dict) else {}
    if not is_url(urls.get("video_url")):
        return UpstreamError(ErrorKind.EMPTY_RESULT, "the job succeeded without a video")
    outputs = [Output(index=0, kind="video", url=urls["video_url"])]
    if handle.get("last_frame") and is_url(urls.get("last_frame_url")):
        outputs.append(Output(index=1, kind="image", url=urls["last_frame_url"]))
    return Done(outputs=tuple(outputs), duration=seconds_of(job.get("duration")))


def _path(job_id: str) -> str:
    return f"{ark_request.PATH}/{quote(job_id, safe='')}"


def _poll_after(connection: Connection) -> float:
    return float(connection.options.get("poll_seconds", ArkContentTasks.poll_seconds))
