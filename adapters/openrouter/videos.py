"""The OpenRouter Videos protocol: asynchronous jobs on many providers' models, polled one by one.

Facts: OpenRouter's SDK 1.3.84 (paths, fields, states). What a job costs (`usage.cost`) is the catalog's matter.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Pending,
    Reported,
    Target,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.kit import checks, prompt_commands, rules
from adapters.kit.error_kinds import SpokenError, spoken_error
from adapters.kit.http import call_json
from adapters.kit.jobs import asking, failure, film, id_of
from adapters.kit.outputs import is_own, is_url
from adapters.kit.reports import micros_of, part
from adapters.kit.shapes import Asynchronous
from adapters.openrouter import errors, video_fields, videos_request

Document = dict[str, Any]

ENDED_BADLY = ("failed", "cancelled", "canceled", "expired")


class OpenRouterVideos(Asynchronous):
    """Adapter of `openrouter_videos`."""

    protocol = "openrouter_videos"
    modalities = frozenset({"video"})
    expresses = checks.fields("video")
    summary = "OpenRouter video jobs on many providers' models"
    error_codes = errors.CODES
    capabilities = rules.VIDEO_CAPABILITIES
    options = {"poll_seconds": rules.POLL_SECONDS}
    poll_seconds = 10.0
    probe_path = "/key"  # the list of models needs none
    problems = staticmethod(videos_request.problems)
    build = staticmethod(videos_request.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return video_fields.FIELDS

    def prompt_command(self, prompt: str, target: Target) -> str | None:
        """Seedance is among the models."""
        return prompt_commands.seedance(prompt)

    def spoken(self, document: Any, status: int) -> SpokenError:
        return errors.spoken(document, status)

    def shape(self, document: Any) -> bool:
        return errors.is_own(document)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        document = call_json(self.paid(upstream), connection, lambda document: bool(id_of(document.get("id"))))
        return Accepted(handle={"id": id_of(document["id"])}, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        with asking(_is_unknown_job):
            call = self.call("GET", _path(handle["id"]))
            job = call_json(call, connection, lambda document: isinstance(document.get("status"), str))
        if job["status"] == "completed":
            cost = micros_of(part(job, "usage").get("cost"))
            return film(_url(job, handle["id"], connection), reported=Reported(cost_micros=cost))
        if job["status"] in ENDED_BADLY:
            error = spoken_error(job)
            kind = ErrorKind.CONTENT_POLICY if errors.is_content(error.message) else ErrorKind.PROVIDER_FAILED
            return failure(kind, error, connection, f"the job ended as {job['status']}")
        return Pending(poll_after=self.poll_after(connection))


def _is_unknown_job(error: UpstreamError) -> bool:
    """Only in the protocol's own error body: a proxy's 404 says nothing about the job."""
    return error.http_status == 404 and error.code == "404"


def _url(job: Document, job_id: str, connection: Connection) -> str:
    """The signed URL, else the one that takes our key, else the protocol's own path."""
    signed = next(filter(is_url, _list(job.get("urls"))), None)
    unsigned = next((url for url in _list(job.get("unsigned_urls")) if is_url(url) and is_own(url, connection)), None)
    return signed or unsigned or f"{connection.base_url.rstrip('/')}{_path(job_id)}/content?index=0"


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _path(job_id: str) -> str:
    return f"{videos_request.PATH}/{quote(job_id, safe='')}"
