"""What a provider's error answer, or its silence, says about the request: the body's code first, then the status."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from adapters.base import ErrorKind, UpstreamError, text
from common.outbound import Failed

LONGEST_WAIT_SECONDS = 86_400.0
REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-tt-logid")


class Verdict(NamedTuple):
    kind: ErrorKind
    model_specific: bool = False


Codes = Callable[[str], Verdict | None]
"""A protocol's table: the meaning of a code in an error body, None where the status decides."""

NOT_HERE = Verdict(ErrorKind.INVALID_REQUEST, model_specific=True)
STATUSES = {
    401: Verdict(ErrorKind.AUTH),
    402: Verdict(ErrorKind.QUOTA_EXHAUSTED),
    403: Verdict(ErrorKind.AUTH),
    404: NOT_HERE,
    408: Verdict(ErrorKind.TRANSIENT),
    409: Verdict(ErrorKind.TRANSIENT),
    425: Verdict(ErrorKind.TRANSIENT),
    429: Verdict(ErrorKind.RATE_LIMITED),
    501: NOT_HERE,
    503: Verdict(ErrorKind.OVERLOADED),
    529: Verdict(ErrorKind.OVERLOADED),
}


class SpokenError(NamedTuple):
    """What an error body says, in the provider's words."""

    code: str = ""
    type: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer that is not what was hoped for."""

    status: int
    headers: Mapping[str, str]
    spoken: SpokenError


def refusal(answer: Answer, codes: Codes, *, paid: bool) -> UpstreamError:
    """The error that an answer stands for. `paid`: whether the request would buy something."""
    spoken = answer.spoken
    verdict = codes(spoken.code) or codes(spoken.type) or by_status(answer.status, paid=paid)
    return UpstreamError(
        verdict.kind,
        spoken.message or f"HTTP {answer.status} without a usable body",
        code=spoken.code or spoken.type,
        http_status=answer.status,
        retry_after=retry_after(answer.headers.get("Retry-After", "")),
        request_id=request_id(answer.headers),
        model_specific=verdict.model_specific,
    )


def by_status(status: int, *, paid: bool) -> Verdict:
    """A redirect or an unknown path speaks of the channel, another 4xx of the request: neither accepted anything.
    What else is no refusal leaves open whether a paid request was accepted: 500, 502, 504, a garbled success."""
    if verdict := STATUSES.get(status):
        return verdict
    if 300 <= status < 400:
        return NOT_HERE
    if 400 <= status < 500:
        return Verdict(ErrorKind.INVALID_REQUEST)
    return Verdict(ErrorKind.AMBIGUOUS if paid else ErrorKind.TRANSIENT)


def lost(failed: Failed, *, paid: bool) -> UpstreamError:
    """The error for an exchange that broke off."""
    is_open = paid and failed.was_sent
    return UpstreamError(ErrorKind.AMBIGUOUS if is_open else ErrorKind.TRANSIENT, str(failed), code=failed.reason)


def parsed(body: bytes) -> Any:
    """The JSON document, None for what is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def spoken_error(document: Any) -> SpokenError:
    """The error in the usual shapes: `{"error": {code, type, message}}`, `{"error": "…"}`, `{code, message}`."""
    if not isinstance(document, dict):
        return SpokenError()
    error = document.get("error")
    if isinstance(error, str):
        return SpokenError(code=text(document.get("code")), message=text(error))
    fields = error if isinstance(error, dict) else document
    return SpokenError(*(text(fields.get(name)) for name in SpokenError._fields))


def retry_after(value: str) -> float | None:
    """Seconds to wait, from the header's seconds or HTTP date; None for anything else."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS) if math.isfinite(seconds) else None


def request_id(headers: Mapping[str, str]) -> str:
    return next((text(headers[name])[:200] for name in REQUEST_ID_HEADERS if headers.get(name)), "")
