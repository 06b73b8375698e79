"""The Runway protocol: asynchronous video jobs of the models it hosts, or of its own router's choice.

Facts: Runway's Python SDK 5.24.0 (requests, tasks, version header) and the pages on errors and task failures of its
documentation. `runway_request` is the pure half.
"""

import json
import re
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
    text,
)
from adapters.kit import rules
from adapters.kit.error_kinds import SpokenError, Verdict
from adapters.kit.http import bearer, call_json, calling, job_error
from adapters.kit.outputs import is_url
from adapters.kit.shapes import Asynchronous, id_of
from adapters.runway.request import build, problems

VERSION = "2024-11-06"
CAPABILITIES = {**rules.VIDEO_CAPABILITIES, "sizes": rules.one_of("pixels", "words")}
OPTIONS = {"api": rules.one_of("classic", "router"), "poll_seconds": rules.POLL_SECONDS}
UNFINISHED = ("PENDING", "THROTTLED", "RUNNING")
ENDED_BADLY = ("FAILED", "CANCELLED", "CANCELED")
# The codes of failed tasks, by their beginning. A file that could be fetched but not used is the caller's to change.
CODES = {
    "SAFETY": Verdict(ErrorKind.CONTENT_POLICY),
    "INPUT_PREPROCESSING.SAFETY": Verdict(ErrorKind.CONTENT_POLICY),
    "ASSET.INVALID": Verdict(ErrorKind.INVALID_REQUEST),
    "THIRD_PARTY.INPUT_VALIDATION": Verdict(ErrorKind.INVALID_REQUEST),
    "INPUT_PREPROCESSING": Verdict(ErrorKind.PROVIDER_FAILED),
    "INTERNAL": Verdict(ErrorKind.PROVIDER_FAILED),
    "THIRD_PARTY": Verdict(ErrorKind.PROVIDER_FAILED),
}
# What a 400 at submission may say that is more than a bad request. Anchored where the channel is at stake: a text may
# quote the prompt.
WORDS = {
    re.compile(r"you do not have enough credits\b", re.IGNORECASE): ErrorKind.QUOTA_EXHAUSTED,
    re.compile(r".*content moderation", re.IGNORECASE): ErrorKind.CONTENT_POLICY,
}
GONE = re.compile(r"\btask\b.*\b(not (be )?found|not exist|deleted)", re.IGNORECASE)
REFUSALS = (ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY)


def verdict_of(code: str) -> Verdict | None:
    """What a failure code means; None for one that is not documented."""
    return next((verdict for start, verdict in CODES.items() if f"{code}.".startswith(f"{start}.")), None)


class Runway(Asynchronous):
    """Adapter of `runway`."""

    protocol: ClassVar[str] = "runway"
    summary: ClassVar[str] = "Runway's hosted video models and its model router"
    error_codes: ClassVar[Mapping[str, Verdict]] = CODES
    capabilities: ClassVar[rules.Rules] = CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS
    modalities: ClassVar[frozenset[str]] = frozenset({"video"})
    poll_seconds: ClassVar[float] = 6.0
    probe_path: ClassVar[str] = "/v1/organization"

    def codes(self, code: str) -> Verdict | None:
        """HTTP errors carry no code, only words."""
        return None

    def authorize(self, connection: Connection) -> dict[str, str]:
        return {**bearer(connection), "X-Runway-Version": VERSION}

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(problems(request, target))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        headers = {"Content-Type": "application/json"}
        call = self.call("POST", upstream.path, paid=True, headers=headers, body=json.dumps(upstream.body).encode())
        try:
            document = call_json(call, connection, lambda document: bool(id_of(document.get("id"))))
        except UpstreamError as error:
            if error.kind is not ErrorKind.INVALID_REQUEST:
                raise
            kinds = (kind for words, kind in WORDS.items() if words.match(error.message))
            raise error.as_kind(next(kinds, error.kind)) from error
        return Accepted(handle={"id": id_of(document["id"])}, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        task = self._task(handle, connection)
        if task["status"] == "SUCCEEDED":
            return _done(task)
        if task["status"] in ENDED_BADLY:
            return _failed(task, connection)
        return Pending(poll_after=self.poll_after(connection), progress=_percent(task.get("progress")))

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Deletes the task, once it is seen to be unfinished: of a finished one that would delete the result."""
        try:
            if self._task(handle, connection)["status"] not in UNFINISHED:
                return False
            with calling(self.call("DELETE", _path(handle)), connection):
                return True
        except UpstreamError:
            return False

    def _task(self, handle: Mapping[str, Any], connection: Connection) -> dict[str, Any]:
        """Raises UpstreamError: EMPTY_RESULT if the provider says that there is no such task, else a poll fault."""
        call = self.call("GET", _path(handle))
        try:
            return call_json(call, connection, lambda document: isinstance(document.get("status"), str))
        except UpstreamError as error:
            # Only in words about a task: a proxy's 404 says nothing about the job.
            if error.http_status == 404 and GONE.search(error.message):
                raise error.as_kind(ErrorKind.EMPTY_RESULT) from error
            if error.kind in REFUSALS:
                raise error.as_kind(ErrorKind.TRANSIENT) from error
            raise


def _path(handle: Mapping[str, Any]) -> str:
    return f"/v1/tasks/{quote(handle['id'], safe='')}"


def _done(task: Mapping[str, Any]) -> Done | UpstreamError:
    found = task.get("output")
    urls = [url for url in found if is_url(url)] if isinstance(found, list) else []
    if not urls:
        return UpstreamError(ErrorKind.EMPTY_RESULT, "the task succeeded without a video")
    return Done(outputs=tuple(Output(index=index, kind="video", url=url) for index, url in enumerate(urls)))


def _failed(task: Mapping[str, Any], connection: Connection) -> UpstreamError:
    said = SpokenError(code=text(task.get("failureCode")), message=text(task.get("failure")))
    verdict = verdict_of(said.code) or Verdict(ErrorKind.PROVIDER_FAILED)
    return job_error(verdict.kind, said, connection, f"the task ended as {task['status']}")


def _percent(progress: object) -> int | None:
    """From the provider's 0 to 1."""
    is_share = isinstance(progress, int | float) and not isinstance(progress, bool) and 0 <= progress <= 1
    return int(progress * 100) if is_share else None  # type: ignore[operator]
