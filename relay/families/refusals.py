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
from adapters.kit.error_kinds import NOT_HERE, Codes, ErrorAnswer, Meaning, SpokenError
from adapters.kit.error_shapes import Shape, error_object
from adapters.openai.errors import CODES
from adapters.relay.adapter import ANTHROPIC_CODES
from common import redaction
from relay.families.fields import mapping, mappings

# Words of ours for what vendors say in the message only.
NO_CREDIT, NO_MODEL, NO_DEPLOYMENT = "credit_balance", "unknown_model", "no_deployment"
OPENAI_CODES = {
    **CODES,
    "account_deactivated": Meaning(ErrorKind.AUTH),
    "authentication_error": Meaning(ErrorKind.AUTH),
    "content_filter": Meaning(ErrorKind.CONTENT_POLICY),
    NO_CREDIT: Meaning(ErrorKind.QUOTA_EXHAUSTED),
    NO_MODEL: NOT_HERE,
    NO_DEPLOYMENT: Meaning(ErrorKind.OVERLOADED),
    "AccountOverdueError": Meaning(ErrorKind.QUOTA_EXHAUSTED),  # Ark
    "Arrearage": Meaning(ErrorKind.QUOTA_EXHAUSTED),  # DashScope
    "exceeded_current_quota_error": Meaning(ErrorKind.QUOTA_EXHAUSTED),  # Moonshot
    "InvalidEndpointOrModel": NOT_HERE,  # Ark
    "ModelNotOpen": NOT_HERE,  # Ark
    "Throttling": Meaning(ErrorKind.RATE_LIMITED),  # DashScope
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
USED_UP = re.compile(
    r"credit balance is too low|reached your specified (?:\w+ )?API usage limits"  # Anthropic
    r"|either used all available credits or reached its monthly spending limit"  # xAI
)
UNKNOWN_MODEL = re.compile(
    r"\bmodel (?:does )?not exist\b|模型不存在|\b(?:invalid|unknown) model\b"
    r"|\bnot a valid model\b|\bmodel identifier is invalid\b"
    r"|\bmodels?[:/ ] ?[`'\"]?[^\s`'\"]{1,256}+[`'\"]? (?:does not exist|is not found|not found)\b",
    re.IGNORECASE,
)
NO_DEPLOYMENTS = re.compile(r"\bno healthy deployments?\b", re.IGNORECASE)  # LiteLLM
OF_REQUEST = frozenset({400, 422, 501})
ANTHROPICS_CODES = {
    **ANTHROPIC_CODES,
    NO_CREDIT: Meaning(ErrorKind.QUOTA_EXHAUSTED),
    NO_MODEL: NOT_HERE,
    NO_DEPLOYMENT: Meaning(ErrorKind.OVERLOADED),
    "invalid_request_error": Meaning(ErrorKind.INVALID_REQUEST),
    "request_too_large": Meaning(ErrorKind.INVALID_REQUEST),
}
# Types that OpenAI also gives with a status that says more, a 401, say: they count where there is none.
FRAME_TYPES = {"invalid_request_error": Meaning(ErrorKind.INVALID_REQUEST)}
STATUS = re.compile(r"[45]\d\d", re.ASCII)
STATUS_NAMES = ("code", "status", "status_code", "statusCode")
MESSAGE_NAMES = ("msg", "detail", "status_msg", "error_msg")
SUCCESS = 200
LONGEST_PARAM = 200
LONGEST_SAID = 2_000
STREAM_OPTIONS = re.compile(rb"stream_?options|include_?usage", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """How one vendor says that something went wrong."""

    codes: Codes
    spoken: Callable[[Any], SpokenError]
    shape: Shape = error_object


class RefusedByUpstream(UpstreamError):
    """An error with the field of the request that it names, if it does; a wait that it only tells in words counts.
    `names_stream_options`: it refuses the request, and speaks of that field somewhere."""

    names_stream_options = False

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


def _spoken(document: Any) -> SpokenError:
    """The error in the usual shapes. That an account has nothing left to spend, and that a model is unknown, some say
    in words only."""
    said = error_kinds.spoken_error(document)
    if USED_UP.search(said.message[:LONGEST_SAID]):
        return said._replace(code=NO_CREDIT)
    if NO_DEPLOYMENTS.search(said.message[:LONGEST_SAID]):
        return said._replace(code=NO_DEPLOYMENT)
    known = _openai_meaning(said.code)
    is_model = _param(document) == "model" and said.code == "invalid_value"
    if known is None and (is_model or UNKNOWN_MODEL.search(said.message[:LONGEST_SAID])):
        return said._replace(code=NO_MODEL)
    return said


def _openai_meaning(code: str) -> Meaning | None:
    """Ark's codes come with a suffix, as `InvalidEndpointOrModel.NotFound` does."""
    return OPENAI_CODES.get(code) or OPENAI_CODES.get(code.partition(".")[0])


OPENAI = ErrorWords(codes=_openai_meaning, spoken=_spoken)
ANTHROPIC = ErrorWords(codes=ANTHROPICS_CODES.get, spoken=_spoken)
GOOGLE = ErrorWords(codes=google.meaning_of, spoken=google.spoken, shape=google.is_own)


def of_answer(words: ErrorWords, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """The error that an answer stands for which is no answer to the call; header names in any case."""
    lower = {name.lower(): value for name, value in headers.items()}
    sent = {**lower, "Retry-After": lower.get("retry-after", "")}
    document = _first(error_kinds.parsed(body))
    refused = _refusal(words, _said_status(document) if status < 300 else status, sent, document)
    refused.names_stream_options = refused.http_status in OF_REQUEST and STREAM_OPTIONS.search(body) is not None
    return refused


def _first(document: Any) -> Any:
    """The error that stands first in an array, as Google writes the answer to a stream."""
    first = document[0] if isinstance(document, list) and document else None
    return first if mapping(first).get("error") else document


def of_frame(words: ErrorWords, document: Any) -> UpstreamError:
    """The error that a frame of a stream tells. A status among its words counts as an answer's does; without one, the
    vendor's code decides, or nobody knows."""
    status = _said_status(document)
    codes = words.codes if status != SUCCESS else lambda said: words.codes(said) or FRAME_TYPES.get(said)
    return _refusal(replace(words, codes=codes), status, {}, document)


def _refusal(words: ErrorWords, status: int, headers: Mapping[str, str], document: Any) -> RefusedByUpstream:
    spoken = words.spoken(document)
    if not spoken.message:
        spoken = spoken._replace(message=_said_elsewhere(document))
    answer = ErrorAnswer(status=status, headers=headers, spoken=spoken, is_own=words.shape(document))
    return RefusedByUpstream(error_kinds.refusal(answer, words.codes, paid=True), _param(document))


def _said_status(document: Any) -> int:
    """The status that an error tells among its words: that of success where there is none."""
    said = [mapping(mapping(document).get("error")), mapping(document)]
    found = (text(fields.get(name)) for fields in said for name in STATUS_NAMES)
    return int(next(filter(STATUS.fullmatch, found), SUCCESS))


def _said_elsewhere(document: Any) -> str:
    """What a gateway or its framework says, where it speaks in no vendor's shape."""
    said = mapping(document)
    first = next(iter(mappings(said.get("detail"))), {})
    found = [*(text(said.get(name)) for name in MESSAGE_NAMES), text(first.get("msg"))]
    return next(filter(None, [*found, text(mapping(said.get("base_resp")).get("status_msg"))]), "")


def _param(document: Any) -> str | None:
    """The field at fault: OpenAI's `param`, or the first of Google's field violations; its client reads it."""
    said = mapping(mapping(document).get("error"))
    violations = [item for detail in mappings(said.get("details")) for item in mappings(detail.get("fieldViolations"))]
    named = text(said.get("param")) or text(mapping(document).get("param"))
    field = named or next((text(item.get("field")) for item in violations), "")
    return redaction.clean(field)[:LONGEST_PARAM] or None
