"""What the answers of `openai_videos` mean: error codes, states, results. Facts: see `openai_videos`."""

import math
import re
from typing import Any

from adapters.base import Connection, Done, ErrorKind, Output, UpstreamError
from adapters.kit import shapes
from adapters.kit.error_kinds import NOT_HERE, Verdict, spoken_error
from adapters.kit.http import job_error
from adapters.kit.outputs import is_url
from adapters.kit.shapes import seconds_of

Job = dict[str, Any]

CODES = {
    "moderation_blocked": Verdict(ErrorKind.CONTENT_POLICY),
    "content_policy_violation": Verdict(ErrorKind.CONTENT_POLICY),
    "sentinel_block": Verdict(ErrorKind.CONTENT_POLICY),
    "sensitive_words_detected": Verdict(ErrorKind.CONTENT_POLICY),
    "billing_hard_limit_reached": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "insufficient_quota": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "insufficient_user_quota": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "invalid_api_key": Verdict(ErrorKind.AUTH),
    "model_not_found": NOT_HERE,
    "rate_limit_exceeded": Verdict(ErrorKind.RATE_LIMITED),
}
SUCCEEDED = ("completed", "complete", "succeeded", "success", "finished")
ENDED_BADLY = ("failed", "failure", "error", "cancelled", "canceled", "expired")
GONE_CODES = ("video_not_found", "task_not_exist", "task_not_found")
GONE_WORDS = re.compile(r"\b(video|task|job)\b.*\b(not found|not exist|deleted|expired)\b", re.IGNORECASE | re.DOTALL)
SHORTEST_WAIT, LONGEST_WAIT = 0.5, 60.0


def id_of(document: Job) -> str:
    """The job's id, empty without one; older gateways call it `task_id`."""
    return shapes.id_of(document.get("id")) or shapes.id_of(document.get("task_id"))


def poll_kind(error: UpstreamError) -> ErrorKind:
    """What a failed poll says. Only the protocol's own words end a job: a proxy's 404 says nothing about it."""
    if error.http_status == 404 and (error.code in GONE_CODES or GONE_WORDS.search(error.message)):
        return ErrorKind.EMPTY_RESULT
    if error.kind in (ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY):
        return ErrorKind.TRANSIENT
    return error.kind


def wait_of(milliseconds: str) -> float | None:
    """The header's wait in seconds, within bounds; None where it says nothing."""
    try:
        seconds = float(milliseconds) / 1000
    except ValueError:
        return None
    return min(max(seconds, SHORTEST_WAIT), LONGEST_WAIT) if math.isfinite(seconds) else None


def percent_of(value: object) -> int | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value <= 100 else None  # type: ignore[call-overload,operator]


def done(job: Job, content_url: str) -> Done:
    """The film at the URL that some gateways put into the job, else at the protocol's own, which needs the key."""
    metadata = job.get("metadata")
    inner = metadata.get("url") if isinstance(metadata, dict) else None
    url = next(filter(is_url, (job.get("video_url"), job.get("url"), inner)), content_url)
    return Done(outputs=(Output(index=0, kind="video", url=url),), duration=_seconds(job.get("seconds")))


def _seconds(value: object) -> float | None:
    """The protocol writes the length as text."""
    try:
        return seconds_of(float(value) if isinstance(value, str) else value)
    except ValueError:
        return None


def failure(job: Job, connection: Connection) -> UpstreamError:
    error = spoken_error(job)
    verdict = CODES.get(error.code)
    is_content = verdict is not None and verdict.kind is ErrorKind.CONTENT_POLICY
    kind = ErrorKind.CONTENT_POLICY if is_content else ErrorKind.PROVIDER_FAILED
    return job_error(kind, error, connection, f"the job ended as {job['status']}")
