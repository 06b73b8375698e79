"""The OpenAI Videos protocol as it lives on in vLLM-Omni and in gateways: asynchronous video jobs, polled one by one.

Facts: OpenAI's SDK 3.54.0 (paths, fields, states, `openai-poll-after-ms`); vLLM-Omni's documentation; the gateway
new-api (further state words and error codes, `task_id`, the result's URL in the job). OpenAI's own service has ended.
DELETE deletes results, it cancels nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from adapters.base import (
    Accepted,
    Connection,
    Done,
    Pending,
    Target,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.kit import checks, error_kinds, prompt_commands, rules
from adapters.kit.http import HttpCall, call_json, calling, error_of
from adapters.kit.jobs import asking, percent_of
from adapters.kit.multipart import form_of
from adapters.kit.shapes import Asynchronous
from adapters.kit.sizes import SizeTable
from adapters.openai import errors, jobs, video_fields, videos_request
from adapters.openai.videos_request import OPENAI, PATH, VLLM_OMNI


class OpenAIVideos(Asynchronous):
    """Adapter of `openai_videos`."""

    protocol = "openai_videos"
    modalities = frozenset({"video"})
    expresses = checks.fields("video")
    summary = "OpenAI-compatible video jobs (vLLM-Omni, gateways)"
    error_codes = errors.VIDEO_CODES
    spoken = staticmethod(errors.spoken)
    capabilities = rules.VIDEO_CAPABILITIES
    options = {
        "dialect": rules.one_of(OPENAI, VLLM_OMNI),
        "encoding": rules.one_of("json", "multipart"),
        "poll_seconds": rules.POLL_SECONDS,
    }
    problems = staticmethod(videos_request.problems)
    build = staticmethod(videos_request.build)

    def shape(self, document: Any) -> bool:
        return errors.is_gateways(document)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return video_fields.VLLM_OMNI if videos_request.dialect_of(target) == VLLM_OMNI else video_fields.OPENAI

    def pixel_sizes(self, target: Target) -> SizeTable:
        return videos_request.size_table(target)

    def prompt_command(self, prompt: str, target: Target) -> str | None:
        """Gateways hand the prompt to Seedance as it is."""
        return prompt_commands.seedance(prompt)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        if upstream.encoding == "json":
            return self._accepted(self.paid(upstream), connection)
        with form_of(upstream, connection) as form:
            return self._accepted(self.paid(upstream, form), connection)

    def _accepted(self, call: HttpCall, connection: Connection) -> Accepted:
        document = call_json(call, connection, lambda document: bool(jobs.id_of(document)))
        return Accepted(handle={"id": jobs.id_of(document)}, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        job, wait = self._job(handle["id"], connection)
        status = job["status"].strip().lower()
        if status in jobs.SUCCEEDED:
            return jobs.done(job, f"{connection.base_url.rstrip('/')}{_path(handle['id'])}/content")
        if status in jobs.ENDED_BADLY:
            return jobs.failure(job, connection)
        return Pending(poll_after=wait or self.poll_after(connection), progress=percent_of(job.get("progress")))

    def _job(self, job_id: str, connection: Connection) -> tuple[jobs.Document, float | None]:
        """The job, and the seconds until the provider wants to be asked again. Raises UpstreamError as `asking`."""
        call = self.call("GET", _path(job_id))
        with asking(jobs.is_unknown_job), calling(call, connection) as reply:
            job = error_kinds.parsed(b"".join(reply.chunks))
            if not isinstance(job, dict) or not isinstance(job.get("status"), str):
                raise error_of(job, reply, call, connection)
            return job, jobs.wait_of(reply.headers.get("openai-poll-after-ms", ""))


def _path(job_id: str) -> str:
    return f"{PATH}/{quote(job_id, safe='')}"
