"""What an upstream's errors stand for: in an answer that is no success, or in a frame of a stream.

What a status leaves open, `adapters/kit/error_kinds.py` decides, for a paid call. Here are only the codes that the
vendors document, and how each writes an error. Facts: OpenAI's guide to error codes and the types of openai 3.54
(`ResponseError`, `ErrorEvent`), Anthropic's page on errors and the exceptions of anthropic 2.12, and for Google
`adapters/gemini/errors.py`. A code that may come after the work was done (`server_error`, `api_error`) is not listed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.base import ErrorKind, UpstreamError, text
from adapters.gemini import errors as google
from adapters.kit import error_kinds
from adapters.kit.error_kinds import Codes, ErrorAnswer, Meaning, SpokenError
from adapters.kit.error_shapes import Shape, error_object
from adapters.openai.errors import CODES
from adapters.relay.adapter import ANTHROPIC_CODES
from common import redaction
from relay.families.fields import mapping, mappings

OPENAI_CODES = {
    **CODES,
    "account_deactivated": Meaning(ErrorKind.AUTH),
    "authentication_error": Meaning(ErrorKind.AUTH),
    "content_filter": Meaning(ErrorKind.CONTENT_POLICY),
    "context_length_exceeded": Meaning(ErrorKind.INVALID_REQUEST),
    "engine_overloaded": Meaning(ErrorKind.OVERLOADED),
    "invalid_prompt": Meaning(ErrorKind.INVALID_REQUEST),
    "overloaded_error": Meaning(ErrorKind.OVERLOADED),
    "rate_limit_error": Meaning(ErrorKind.RATE_LIMITED),
    "requests": Meaning(ErrorKind.RATE_LIMITED),
    "server_is_overloaded": Meaning(ErrorKind.OVERLOADED),
    "slow_down": Meaning(ErrorKind.OVERLOADED),
    "tokens": Meaning(ErrorKind.RATE_LIMITED),
}
NO_CREDIT = "credit_balance"  # a word of ours: Anthropic says it in the message only
ANTHROPICS_CODES = {
    **ANTHROPIC_CODES,
    NO_CREDIT: Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "invalid_request_error": Meaning(ErrorKind.INVALID_REQUEST),
    "request_too_large": Meaning(ErrorKind.INVALID_REQUEST),
}
# Types that OpenAI also gives with a status that says more, a 401, say: they count where there is none.
FRAME_TYPES = {"invalid_request_error": Meaning(ErrorKind.INVALID_REQUEST)}
STATUS = re.compile(r"[45]\d\d", re.ASCII)
SUCCESS = 200
LONGEST_PARAM = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """How one vendor says that something went wrong."""

    codes: Codes
    spoken: Callable[[Any], SpokenError]
    shape: Shape = error_object


class RefusedByUpstream(UpstreamError):
    """An error with the field of the request that it names, if it does; a wait that it only tells in words counts."""

    def __init__(self, error: UpstreamError, param: str | None) -> None:
        wait = google.wait_of(error.message) if error.retry_after is None else error.retry_after
        super().__init__(
            error.kind,
            error.message,
            code=error.code,
            http_status=error.http_status,
            retry_after=wait,
            request_id=error.request_id,
            model_specific=error.model_specific,
        )
        self.param = param


def _anthropic_spoken(document: Any) -> SpokenError:
    said = error_kinds.spoken_error(document)
    return said._replace(code=NO_CREDIT) if "credit balance is too low" in said.message else said


OPENAI = ErrorWords(codes=OPENAI_CODES.get, spoken=error_kinds.spoken_error)
ANTHROPIC = ErrorWords(codes=ANTHROPICS_CODES.get, spoken=_anthropic_spoken)
GOOGLE = ErrorWords(codes=google.meaning_of, spoken=google.spoken, shape=google.is_own)


def of_answer(words: ErrorWords, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """The error that an answer without success stands for; header names in any case."""
    lower = {name.lower(): value for name, value in headers.items()}
    sent = {**lower, "Retry-After": lower.get("retry-after", "")}
    return _refusal(words, status, sent, error_kinds.parsed(body))


def of_frame(words: ErrorWords, document: Any) -> UpstreamError:
    """The error that a frame of a stream tells. A status among its words counts as an answer's does; without one, the
    vendor's code decides, or nobody knows."""
    code = mapping(mapping(document).get("error")).get("code")
    status = int(text(code)) if STATUS.fullmatch(text(code)) else SUCCESS
    codes = words.codes if status != SUCCESS else lambda said: words.codes(said) or FRAME_TYPES.get(said)
    return _refusal(replace(words, codes=codes), status, {}, document)


def _refusal(words: ErrorWords, status: int, headers: Mapping[str, str], document: Any) -> RefusedByUpstream:
    spoken = words.spoken(document)
    answer = ErrorAnswer(status=status, headers=headers, spoken=spoken, is_own=words.shape(document))
    return RefusedByUpstream(error_kinds.refusal(answer, words.codes, paid=True), _param(document))


def _param(document: Any) -> str | None:
    """The field at fault: OpenAI's `param`, or the first of Google's field violations; its client reads it."""
    said = mapping(mapping(document).get("error"))
    violations = [item for detail in mappings(said.get("details")) for item in mappings(detail.get("fieldViolations"))]
    named = text(said.get("param")) or text(mapping(document).get("param"))
    field = named or next((text(item.get("field")) for item in violations), "")
    return redaction.clean(field)[:LONGEST_PARAM] or None
