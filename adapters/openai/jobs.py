"""The jobs of `openai_videos` as the provider and its gateways show them: ids, waits, results and ends.

Facts: see `openai/videos.py`.
"""

import math
import re
from typing import Any

from adapters.base import Connection, Done, ErrorKind, Reported, UpstreamError
from adapters.kit import jobs
from adapters.kit.error_kinds import spoken_error
from adapters.kit.outputs import is_url
from adapters.kit.reports import size_of
from adapters.openai.errors import VIDEO_CODES

Document = dict[str, Any]

SUCCEEDED = ("completed", "complete", "succeeded", "success", "finished")
ENDED_BADLY = ("failed", "failure", "error", "cancelled", "canceled", "expired")
GONE_CODES = ("video_not_found", "task_not_exist", "task_not_found")
GONE_WORDS = re.compile(r"\b(video|task|job)\b.*\b(not found|not exist|deleted|expired)\b", re.IGNORECASE | re.DOTALL)
SHORTEST_WAIT, LONGEST_WAIT = 0.5, 60.0


def id_of(document: Document) -> str:
    """The job's id, empty without one; older gateways call it `task_id`."""
    return jobs.id_of(document.get("id")) or jobs.id_of(document.get("task_id"))


def is_unknown_job(error: UpstreamError) -> bool:
    """Only in the protocol's own words: a proxy's 404 says nothing about the job."""
    return error.http_status == 404 and bool(error.code in GONE_CODES or GONE_WORDS.search(error.message))


def wait_of(milliseconds: str) -> float | None:
    """The header's wait in seconds, within bounds; None where it says nothing."""
    try:
        seconds = float(milliseconds) / 1000
    except ValueError:
        return None
    return min(max(seconds, SHORTEST_WAIT), LONGEST_WAIT) if math.isfinite(seconds) else None


def done(job: Document, content_url: str) -> Done:
    """The film at the URL that some gateways put into the job, else at the protocol's own, which needs the key."""
    metadata = job.get("metadata")
    inner = metadata.get("url") if isinstance(metadata, dict) else None
    url = next(filter(is_url, (job.get("video_url"), job.get("url"), inner)), content_url)
    return jobs.film(url, jobs.seconds_of(job.get("seconds")), Reported(size=size_of(job.get("size"))))


def failure(job: Document, connection: Connection) -> UpstreamError:
    error = spoken_error(job)
    is_content = VIDEO_CODES.get(error.code) is ErrorKind.CONTENT_POLICY
    kind = ErrorKind.CONTENT_POLICY if is_content else ErrorKind.PROVIDER_FAILED
    return jobs.failure(kind, error, connection, f"the job ended as {job['status']}")
