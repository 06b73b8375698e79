"""The OpenAI Videos protocol as it lives on in vLLM-Omni and in gateways: asynchronous video jobs, polled one by one.

Facts: OpenAI's SDK 3.54.0 (paths, fields, states, `openai-poll-after-ms`); vLLM-Omni's documentation; the gateway
new-api (further state words and error codes, `task_id`, the result's URL in the job). OpenAI's own service has ended.
`openai/videos_request.py` and `openai/videos_answers.py` are the pure halves. DELETE deletes results, it cancels
nothing.
"""

import json
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from adapters.base import (
    Accepted,
    Connection,
    Done,
    Pending,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.kit import error_kinds, rules
from adapters.kit.error_kinds import Verdict
from adapters.kit.form import form_of
from adapters.kit.http import call_json, calling, error_of
from adapters.kit.multipart import Multipart
from adapters.kit.shapes import Asynchronous
from adapters.openai import videos_request as openai_videos_request
from adapters.openai.videos_answers import (
    CODES,
    ENDED_BADLY,
    SUCCEEDED,
    Job,
    done,
    failure,
    id_of,
    percent_of,
    poll_kind,
    wait_of,
)
from adapters.openai.videos_request import OPENAI, PATH, VLLM_OMNI

CAPABILITIES = rules.VIDEO_CAPABILITIES
OPTIONS = {
    "dialect": rules.one_of(OPENAI, VLLM_OMNI),
    "encoding": rules.one_of("json", "multipart"),
    "poll_seconds": rules.POLL_SECONDS,
}


class OpenAIVideos(Asynchronous):
    """Adapter of `openai_videos`."""

    protocol: ClassVar[str] = "openai_videos"
    modalities: ClassVar[frozenset[str]] = frozenset({"video"})
    summary: ClassVar[str] = "OpenAI-compatible video jobs (vLLM-Omni, gateways)"
    error_codes: ClassVar[Mapping[str, Verdict]] = CODES
    capabilities: ClassVar[rules.Rules] = CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(openai_videos_request.problems(request, target))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return openai_videos_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        if upstream.encoding == "json":
            return self._submit(upstream.path, "application/json", json.dumps(upstream.body).encode(), connection)
        with form_of(upstream, connection) as form:
            return self._submit(upstream.path, form.content_type, form, connection)

    def _submit(self, path: str, content_type: str, body: bytes | Multipart, connection: Connection) -> Accepted:
        call = self.call("POST", path, paid=True, headers={"Content-Type": content_type}, body=body)
        document = call_json(call, connection, lambda document: bool(id_of(document)))
        return Accepted(handle={"id": id_of(document)}, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        job, wait = self._job(handle["id"], connection)
        status = job["status"].strip().lower()
        if status in SUCCEEDED:
            return done(job, f"{connection.base_url.rstrip('/')}{_path(handle['id'])}/content")
        if status in ENDED_BADLY:
            return failure(job, connection)
        return Pending(poll_after=wait or self.poll_after(connection), progress=percent_of(job.get("progress")))

    def _job(self, job_id: str, connection: Connection) -> tuple[Job, float | None]:
        """The job, and the seconds until the provider wants to be asked again. Raises UpstreamError: EMPTY_RESULT if
        the provider says that there is no such job, else a poll fault."""
        call = self.call("GET", _path(job_id))
        try:
            with calling(call, connection) as reply:
                job = error_kinds.parsed(b"".join(reply.chunks))
                if not isinstance(job, dict) or not isinstance(job.get("status"), str):
                    raise error_of(job, reply, call, connection)
                return job, wait_of(reply.headers.get("openai-poll-after-ms", ""))
        except UpstreamError as error:
            raise error.as_kind(poll_kind(error)) from error


def _path(job_id: str) -> str:
    return f"{PATH}/{quote(job_id, safe='')}"
