"""What a provider's error answer, or its silence, says about the request: the body's code first, then the status."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from adapters.base import ErrorKind, UpstreamError, text
from common.http import retry_after
from common.outbound import Failed

LONGEST_WAIT_SECONDS = 86_400.0
LONGEST_NUMBER = 1000  # digits of one that is read; of a longer one it is only known to be enormous
REQUEST_ID_HEADERS = ("x-request-id", "request-id", "x-tt-logid")


class Meaning(NamedTuple):
    """What an error stands for. `model_specific`: it speaks of the model, so another channel may take the request."""

    kind: ErrorKind
    model_specific: bool = False


Codes = Callable[[str], Meaning | None]
"""A protocol's table: the meaning of a code in an error body, None where the status decides."""

NOT_HERE = Meaning(ErrorKind.INVALID_REQUEST, model_specific=True)
STATUSES = {
    401: Meaning(ErrorKind.AUTH),
    402: Meaning(ErrorKind.QUOTA_EXHAUSTED),
    403: Meaning(ErrorKind.AUTH),
    404: NOT_HERE,
    429: Meaning(ErrorKind.RATE_LIMITED),
    501: NOT_HERE,
    503: Meaning(ErrorKind.OVERLOADED),
    529: Meaning(ErrorKind.OVERLOADED),
}
# Somebody gave up waiting, or found a request under way already: neither says that nothing was bought.
INTERRUPTED = frozenset({408, 409, 425, 499})
# A provider says so before it takes a request, a proxy also after it has passed one on.
BUSY = frozenset({503, 529})


class SpokenError(NamedTuple):
    """What an error body says, in the provider's words."""

    code: str = ""
    type: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """An answer that is no success. `is_own`: its body is an error in the shape in which the protocol speaks."""

    status: int
    headers: Mapping[str, str]
    spoken: SpokenError
    is_own: bool = False


def refusal(answer: ErrorAnswer, codes: Codes, *, paid: bool) -> UpstreamError:
    """The error that an answer stands for. `paid`: whether the request would buy something."""
    spoken = answer.spoken
    wait = retry_after.seconds(answer.headers.get("Retry-After", ""), longest=LONGEST_WAIT_SECONDS)
    is_refused = answer.is_own or wait is not None
    meaning = codes(spoken.code) or codes(spoken.type) or by_status(answer.status, paid=paid, is_refused=is_refused)
    return UpstreamError(
        meaning.kind if paid or meaning.kind is not ErrorKind.AMBIGUOUS else ErrorKind.TRANSIENT,
        spoken.message or f"HTTP {answer.status} without a usable body",
        code=spoken.code or spoken.type,
        http_status=answer.status,
        retry_after=wait,
        request_id=request_id(answer.headers),
        model_specific=meaning.model_specific,
    )


def by_status(status: int, *, paid: bool, is_refused: bool = False) -> Meaning:
    """What a status means of which no documented code of the protocol says more. An unknown path, and the redirect of a
    question, speak of the channel, another 4xx of the request. `is_refused`: the provider itself speaks, or says when
    to come back."""
    if paid and leaves_open(status) and not (is_refused and status in BUSY):
        return Meaning(ErrorKind.AMBIGUOUS)
    if meaning := STATUSES.get(status):
        return meaning
    if 300 <= status < 400:
        return NOT_HERE
    if leaves_open(status):
        return Meaning(ErrorKind.TRANSIENT)
    return Meaning(ErrorKind.INVALID_REQUEST)


def leaves_open(status: int) -> bool:
    """Whether a paid request may have been accepted all the same, where the body does not say more. The one place that
    says so of every adapter: interrupted requests, redirects, all of 5xx but 501, and a garbled success."""
    return status in INTERRUPTED or (not 400 <= status < 500 and status != 501)


def lost(failed: Failed, *, paid: bool) -> UpstreamError:
    """The error for an exchange that broke off."""
    is_open = paid and failed.was_sent
    return UpstreamError(ErrorKind.AMBIGUOUS if is_open else ErrorKind.TRANSIENT, str(failed), code=failed.reason)


def parsed(body: bytes) -> Any:
    """The JSON document, None for what is none."""
    try:
        return json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return None
    except ValueError:  # a number that Python does not read for its length
        with suppress(ValueError, RecursionError):
            return json.loads(body, parse_int=_shortened)
        return None


def _shortened(digits: str) -> int:
    return int(digits[:LONGEST_NUMBER])


def spoken_error(document: Any, status: int = 0) -> SpokenError:
    """The error in the usual shapes: `{"error": {code, type, message}}`, `{"error": "…"}`, `{code, message}`; whatever
    the HTTP status is."""
    if not isinstance(document, dict):
        return SpokenError()
    error = document.get("error")
    if isinstance(error, str):
        return SpokenError(code=text(document.get("code")), message=text(error))
    fields = error if isinstance(error, dict) else document
    return SpokenError(*(text(fields.get(name)) for name in SpokenError._fields))


def request_id(headers: Mapping[str, str]) -> str:
    return next((text(headers[name])[:200] for name in REQUEST_ID_HEADERS if headers.get(name)), "")
