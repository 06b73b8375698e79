"""Classifies upstream errors, in an unsuccessful answer or in a stream frame.

`adapters/kit/error_kinds.py` decides what a status leaves open, for a paid call. Here are only the codes that vendors
document, and each vendor's error format. Sources: OpenAI's guide to error codes and the types of openai 3.54
(`ResponseError`, `ErrorEvent`), Anthropic's page on errors and the exceptions of anthropic 2.12, and for Google
`adapters/gemini/errors.py`. Codes that may follow finished work (`server_error`, `api_error`) are not listed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.ark import errors as ark
from adapters.ark import minimax_errors as minimax
from adapters.base import ErrorKind, UpstreamError, text
from adapters.dashscope import errors as dashscope
from adapters.gemini import errors as google
from adapters.kit import error_kinds
from adapters.kit.error_kinds import LONGEST_SAID, Codes, ErrorAnswer, SpokenError
from adapters.kit.error_shapes import Shape, error_object
from adapters.openai import errors as openai_errors
from adapters.openai import xai_errors
from adapters.openai.errors import CODES
from adapters.openrouter import errors as openrouter
from adapters.relay.adapter import ANTHROPIC_CODES
from common import redaction
from relay.families.fields import mapping, mappings

# Our codes for errors that vendors report only in the message.
NO_CREDIT, NO_MODEL, NO_DEPLOYMENT = "credit_balance", "unknown_model", "no_deployment"
CLOSED, MODERATED, UNSUPPORTED = "account_closed", "moderated", "unsupported_by_model"
IN_WORDS = {
    CLOSED: ErrorKind.AUTH,
    MODERATED: ErrorKind.CONTENT_POLICY,
    UNSUPPORTED: ErrorKind.INVALID_REQUEST,
    NO_CREDIT: ErrorKind.QUOTA_EXHAUSTED,
    NO_MODEL: ErrorKind.MODEL_UNAVAILABLE,
    NO_DEPLOYMENT: ErrorKind.OVERLOADED,
}
# A dialect of many vendors: OpenAI, Ark, DashScope, MiniMax, Moonshot, xAI, OpenRouter, Groq and gateways.
OPENAI_CODES = {
    **minimax.CODES,
    **dashscope.CODES,
    **ark.CODES,
    **CODES,
    **IN_WORDS,
    "authentication_error": ErrorKind.AUTH,
    "content_filter": ErrorKind.CONTENT_POLICY,
    "context_length_exceeded": ErrorKind.INVALID_REQUEST,
    "data_inspection_failed": ErrorKind.CONTENT_POLICY,  # DashScope, in OpenAI's shape
    "engine_overloaded": ErrorKind.OVERLOADED,
    "exceeded_current_quota_error": ErrorKind.QUOTA_EXHAUSTED,  # Moonshot
    "invalid_prompt": ErrorKind.INVALID_REQUEST,
    "requests": ErrorKind.RATE_LIMITED,
    "server_is_overloaded": ErrorKind.OVERLOADED,
    "slow_down": ErrorKind.OVERLOADED,
    "tokens": ErrorKind.RATE_LIMITED,
}
ANTHROPICS_CODES = {
    **ANTHROPIC_CODES,
    **IN_WORDS,
    "invalid_request_error": ErrorKind.INVALID_REQUEST,
    "request_too_large": ErrorKind.INVALID_REQUEST,
}
USED_UP = re.compile(r"credit balance is too low|reached your specified (?:\w+ )?API usage limits")  # Anthropic
UNKNOWN_MODEL = re.compile(
    r"\bmodel (?:does )?not exist\b|模型不存在|\b(?:invalid|unknown) model\b"
    r"|\bnot a valid model\b|\bmodel identifier is invalid\b|\bno endpoints found\b"
    r"|\bmodels?[:/ ] ?[`'\"]?[^\s`'\"]{1,256}+[`'\"]? (?:does not exist|is not found|not found)\b",
    re.IGNORECASE,
)
NO_DEPLOYMENTS = re.compile(r"\bno healthy deployments?\b", re.IGNORECASE)  # LiteLLM
DISABLED = re.compile(r"\A(?:this|your) organization has been disabled\b", re.IGNORECASE)  # Anthropic
OF_REQUEST = frozenset({400, 422, 501})
# Types that OpenAI also sends with a more specific status, such as 401; they count only without a status.
FRAME_TYPES = {"invalid_request_error": ErrorKind.INVALID_REQUEST}
STATUS = re.compile(r"[45]\d\d", re.ASCII)
STATUS_NAMES = ("code", "status", "status_code", "statusCode")
MESSAGE_NAMES = ("msg", "detail", "status_msg", "error_msg")
SUCCESS, FORBIDDEN = 200, 403
LONGEST_PARAM = 200
STREAM_OPTIONS = re.compile(rb"stream_?options|include_?usage", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """How one vendor reports errors."""

    codes: Codes
    spoken: Callable[[Any, int], SpokenError]
    shape: Shape = error_object


class RefusedByUpstream(UpstreamError):
    """An error with the request field that it names, if any; `retry_after` may come from its text.
    `names_stream_options`: it refuses the request and mentions that field."""

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
            is_documented=error.is_documented,
        )
        self.param = param


def _spoken(document: Any, status: int) -> SpokenError:
    """Returns the error in the usual shape, with a code of ours where the vendor only uses words."""
    said = error_kinds.spoken_error(document)
    code = _in_words(document, said, status) or _base_code(document)
    return said._replace(code=code) if code else said


def _in_words(document: Any, said: SpokenError, status: int) -> str:
    """Returns our code for the error's text; empty where the vendor's code or the status decides."""
    words = said.message[:LONGEST_SAID]
    of_xai = xai_errors.spoken(document, status).code
    found: tuple[tuple[str, bool], ...] = (
        (NO_CREDIT, bool(USED_UP.search(words))),
        (NO_DEPLOYMENT, bool(NO_DEPLOYMENTS.search(words))),
        (CLOSED, bool(DISABLED.search(words))),
        (NO_CREDIT, bool(openrouter.KEY_LIMIT.match(words))),
        (of_xai, of_xai != said.code),
        (MODERATED, status == FORBIDDEN and openrouter.is_moderation(document, words)),
        (UNSUPPORTED, bool(openrouter.UNSUPPORTED.match(words))),
        (NO_MODEL, _is_about_model(document, said, status)),
    )
    return next((code for code, is_said in found if is_said), "")


def _is_about_model(document: Any, said: SpokenError, status: int) -> bool:
    is_named = _param(document) == "model" and said.code == "invalid_value"
    is_unopened = openai_errors.spoken(document, status).code == "model_not_found"
    is_unknown = _openai_kind(said.code) is None and UNKNOWN_MODEL.search(said.message[:LONGEST_SAID]) is not None
    return is_named or is_unopened or is_unknown


def _base_code(document: Any) -> str:
    """Returns MiniMax's code, which comes with a success status."""
    code = text(mapping(mapping(document).get("base_resp")).get("status_code"))
    return code if code in minimax.CODES else ""


def _openai_kind(code: str) -> ErrorKind | None:
    """Classifies a code; Ark's have a suffix, as in `InvalidEndpointOrModel.NotFound`."""
    return OPENAI_CODES.get(code) or ark.kind_of(code) or OPENAI_CODES.get(code.partition(".")[0])


OPENAI = ErrorWords(codes=_openai_kind, spoken=_spoken)
ANTHROPIC = ErrorWords(codes=ANTHROPICS_CODES.get, spoken=_spoken)
GOOGLE = ErrorWords(codes=google.kind_of, spoken=lambda document, status: google.spoken(document), shape=google.is_own)


def read_error_answer(words: ErrorWords, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Classifies an answer that does not answer the call; header names in any case."""
    lower = {name.lower(): value for name, value in headers.items()}
    sent = {**lower, "Retry-After": lower.get("retry-after", "")}
    document = _first(error_kinds.parsed(body))
    refused = _refusal(words, _said_status(document) if status < 300 else status, sent, document)
    refused.names_stream_options = refused.http_status in OF_REQUEST and STREAM_OPTIONS.search(body) is not None
    return refused


def _first(document: Any) -> Any:
    """Returns the first error of an array, which is how Google answers a stream request."""
    first = document[0] if isinstance(document, list) and document else None
    return first if mapping(first).get("error") else document


def read_error_frame(words: ErrorWords, document: Any) -> UpstreamError:
    """Classifies the error in a stream frame. A status in it counts like an answer's; without one the vendor's code
    decides, or the outcome is unknown."""
    status = _said_status(document)
    codes = words.codes if status != SUCCESS else lambda said: words.codes(said) or FRAME_TYPES.get(said)
    return _refusal(replace(words, codes=codes), status, {}, document)


def _refusal(words: ErrorWords, status: int, headers: Mapping[str, str], document: Any) -> RefusedByUpstream:
    spoken = words.spoken(document, status)
    if not spoken.message:
        spoken = spoken._replace(message=_said_elsewhere(document))
    answer = ErrorAnswer(status=status, headers=headers, spoken=spoken, is_own=words.shape(document))
    return RefusedByUpstream(error_kinds.refusal(answer, words.codes, paid=True), _param(document))


def _said_status(document: Any) -> int:
    """Returns the status in an error's text; that of success without one."""
    said = [mapping(mapping(document).get("error")), mapping(document)]
    found = (text(fields.get(name)) for fields in said for name in STATUS_NAMES)
    return int(next(filter(STATUS.fullmatch, found), SUCCESS))


def _said_elsewhere(document: Any) -> str:
    """Returns the message of a gateway or framework that uses no vendor's format."""
    said = mapping(document)
    first = next(iter(mappings(said.get("detail"))), {})
    found = [*(text(said.get(name)) for name in MESSAGE_NAMES), text(first.get("msg"))]
    return next(filter(None, [*found, text(mapping(said.get("base_resp")).get("status_msg"))]), "")


def _param(document: Any) -> str | None:
    """Returns the field at fault, for the client: OpenAI's `param`, or the first of Google's field violations."""
    said = mapping(mapping(document).get("error"))
    violations = [item for detail in mappings(said.get("details")) for item in mappings(detail.get("fieldViolations"))]
    named = text(said.get("param")) or text(mapping(document).get("param"))
    field = named or next((text(item.get("field")) for item in violations), "")
    return redaction.clean(field)[:LONGEST_PARAM] or None
