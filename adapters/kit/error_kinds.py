"""What a provider's error answer, or its silence, says about the request: the body's code first, then the status."""

import json
import re
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


Codes = Callable[[str], ErrorKind | None]
"""A protocol's table: the kind of error that a code in an error body stands for, None where the status decides."""

STATUSES = {
    401: ErrorKind.AUTH,
    402: ErrorKind.QUOTA_EXHAUSTED,
    403: ErrorKind.FORBIDDEN,
    404: ErrorKind.MODEL_UNAVAILABLE,
    429: ErrorKind.RATE_LIMITED,
    501: ErrorKind.FORBIDDEN,
    503: ErrorKind.OVERLOADED,
    529: ErrorKind.OVERLOADED,
}
# Somebody gave up waiting, or found a request under way already: neither says that nothing was bought.
INTERRUPTED = frozenset({408, 409, 425, 499})
# A provider says so before it takes a request, a proxy also after it has passed one on.
BUSY = frozenset({503, 529})
# Refusals that may be the request's own fault, if they speak of its size.
OF_REQUEST_TOO = frozenset({ErrorKind.RATE_LIMITED, ErrorKind.QUOTA_EXHAUSTED})
OWN_SIZE = re.compile(
    r"\brequest too large\b|\bmax_(?:completion_|output_)?tokens\b|\bextra usage is required for long context\b",
    re.IGNORECASE,
)
ASKED = re.compile(
    r"\blimit:? ?(?P<limit>[\d,]{1,20})[,;.]? (?:used:? ?[\d,]{1,20}[,;.]? )?requested:? ?(?P<asked>[\d,]{1,20})",
    re.IGNORECASE,
)
LONGEST_SAID = 2_000
"""Characters of an error's message that are searched for documented words."""


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
    is_redirect = paid and 300 <= answer.status < 400  # nothing in it tells what became of the request
    told = None if is_redirect else codes(spoken.code) or codes(spoken.type)
    kind = told or by_status(answer.status, paid=paid, is_refused=is_refused)
    if kind in OF_REQUEST_TOO and is_about_own_size(spoken.message):
        kind = ErrorKind.INVALID_REQUEST
    return UpstreamError(
        kind if paid or kind is not ErrorKind.AMBIGUOUS else ErrorKind.TRANSIENT,
        spoken.message or f"HTTP {answer.status} without a usable body",
        code=spoken.code or spoken.type,
        http_status=answer.status,
        retry_after=wait,
        request_id=request_id(answer.headers),
        is_documented=bool(told) or (answer.is_own and "model" in spoken.message.lower()),
    )


def is_about_own_size(message: str) -> bool:
    """Whether a refusal over a rate or a credit speaks of the size of this one request: it asks for more than the whole
    limit, or for more tokens than the credit pays. Words of OpenAI, Groq, Anthropic and OpenRouter."""
    said = message[:LONGEST_SAID]
    asked = ASKED.search(said)
    is_over = asked is not None and _number(asked["asked"]) > _number(asked["limit"])
    return is_over or OWN_SIZE.search(said) is not None


def _number(digits: str) -> int:
    return int(re.sub(r"\D", "", digits) or 0)


def by_status(status: int, *, paid: bool, is_refused: bool = False) -> ErrorKind:
    """The kind of error that a status stands for where no documented code of the protocol says more. An unknown path
    speaks of the model, a 403, a 501 and the redirect of a question of nobody in particular, another 4xx of the
    request. `is_refused`: the provider itself speaks, or says when to come back."""
    if paid and leaves_open(status) and not (is_refused and status in BUSY):
        return ErrorKind.AMBIGUOUS
    if kind := STATUSES.get(status):
        return kind
    if 300 <= status < 400:
        return ErrorKind.FORBIDDEN
    if leaves_open(status):
        return ErrorKind.TRANSIENT
    return ErrorKind.INVALID_REQUEST


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
