"""The Ark (BytePlus, Volcengine) content generation protocol: asynchronous video jobs, polled in batches.

Facts: Volcengine's documentation of the video generation API and its Ark runtime SDK 5.0.54 (request fields; the list
filter repeated as `filter.task_ids=a&filter.task_ids=b`), which MiniMax's video generation V2 shares; `ark/dialects.py`
has what differs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.ark import errors, minimax_errors
from adapters.ark.dialects import DIALECTS, Dialect, Document, dialect_of
from adapters.ark.jobs import below, call, find, find_all
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
    UpstreamField,
    UpstreamRequest,
)
from adapters.kit import checks, rules
from adapters.kit.error_kinds import parsed
from adapters.kit.http import call_json, calling
from adapters.kit.jobs import failure, film_told, id_of, seconds_of
from adapters.kit.outputs import is_url
from adapters.kit.shapes import Asynchronous, probing


class ArkContentTasks(Asynchronous):
    """Adapter of `ark_content_tasks`. A handle is `{"id": …, "last_frame": whether one was asked for}`."""

    protocol = "ark_content_tasks"
    modalities = frozenset({"video"})
    expresses = checks.fields("video")
    summary = "Ark content generation (BytePlus, Volcengine), and MiniMax video generation V2"
    error_codes = {**errors.CODES, **minimax_errors.CODES}
    capabilities = rules.VIDEO_CAPABILITIES
    options = {"dialect": rules.one_of(*DIALECTS), "poll_seconds": rules.POLL_SECONDS}
    variants = ({}, {"dialect": "minimax_v2"})
    poll_batch = 50

    def codes(self, code: str) -> ErrorKind | None:
        """Of every dialect: their codes have nothing in common."""
        return errors.kind_of(code) or minimax_errors.CODES.get(code)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return dialect_of(target.options).fields

    def prompt_command(self, prompt: str, target: Target) -> str | None:
        return dialect_of(target.options).prompt_command(prompt)

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(dialect_of(target.options).problems(request, target))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return dialect_of(target.options).build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        dialect = dialect_of(connection.options)
        headers, body = {"Content-Type": "application/json"}, json.dumps(upstream.body).encode()
        paid = call(dialect, "POST", upstream.path, paid=True, headers=headers, body=body)
        document = call_json(paid, connection, lambda document: bool(id_of(document.get(dialect.id_field))))
        asked_last_frame = upstream.body.get("return_last_frame") is True
        handle = {"id": id_of(document[dialect.id_field]), "last_frame": asked_last_frame}
        return Accepted(handle=handle, poll_after=self.poll_after(connection))

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        jobs = find_all([handle["id"] for handle in handles], connection)
        return [self._state(jobs[handle["id"]], handle, connection) for handle in handles]

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Deletes the job, once it is seen to be queued: of one that may have finished that would delete the result."""
        dialect = dialect_of(connection.options)
        try:
            if find(handle["id"], connection).get("status") != "queued":
                return False
            with calling(call(dialect, "DELETE", below(dialect.create, handle["id"])), connection) as reply:
                document = parsed(b"".join(reply.chunks))
        except UpstreamError:
            return False
        return not isinstance(document, dict) or document.get("action", "cancelled") == "cancelled"

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        return {**super().attach(upstream_id, target), "last_frame": False}

    def probe(self, connection: Connection) -> None:
        """Asks for a job that cannot be."""
        dialect = dialect_of(connection.options)
        with probing(), calling(call(dialect, "GET", below(dialect.query, "probe")), connection):
            pass

    def poll_after(self, connection: Connection) -> float:
        return float(connection.options.get("poll_seconds", dialect_of(connection.options).poll_seconds))

    def _state(
        self, job: Document | UpstreamError, handle: Mapping[str, Any], connection: Connection
    ) -> Pending | Done | UpstreamError:
        if isinstance(job, UpstreamError):
            return job
        dialect = dialect_of(connection.options)
        if job["status"] == "succeeded":
            return _done(job, handle, dialect)
        if job["status"] in ("failed", "cancelled", "canceled", "expired"):
            return _failed(job, dialect, connection)
        return Pending(poll_after=self.poll_after(connection))


def _failed(job: Document, dialect: Dialect, connection: Connection) -> UpstreamError:
    error = dialect.spoken(job, 200)
    is_content = dialect.codes(error.code) is ErrorKind.CONTENT_POLICY
    kind = ErrorKind.CONTENT_POLICY if is_content else ErrorKind.PROVIDER_FAILED
    return failure(kind, error, connection, f"the job ended as {job['status']}")


def _done(job: Document, handle: Mapping[str, Any], dialect: Dialect) -> Done | UpstreamError:
    content = job.get("content")
    urls = content if isinstance(content, dict) else {}
    done = film_told(urls.get(dialect.video_field), seconds_of(job.get("duration")), dialect.reported(job))
    frame = urls.get("last_frame_url")
    if isinstance(done, Done) and handle.get("last_frame") and is_url(frame):
        return replace(done, outputs=(*done.outputs, Output(index=1, kind="image", url=frame)))
    return done
