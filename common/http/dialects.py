"""How errors look on the wire: one internal type (`common/errors.py`), a shape for each family of paths.

The shapes are those that the official SDKs read: OpenAI's and Anthropic's take class and retries from the status,
Google's from the code in the body; message, type and field at fault come from the body.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import ApiError, InsufficientBalance
from common.http import request_ids

RETRY_AFTER_SECONDS = 5
LONGEST_RETRY_SECONDS = 60  # SDKs give up on more, or sleep however long it is

# What the vendors call an error of this status; others are INTERNAL from 500 on, else INVALID_ARGUMENT, and so on.
NATIVE_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
GOOGLE_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDialect:
    """Of one family of paths. `serves_sdks`: SDKs retry by themselves there, and are told when they must not."""

    body: Callable[[ApiError], Mapping[str, Any]]
    serves_sdks: bool


def _task_body(error: ApiError) -> Mapping[str, Any]:
    return {"error": {"type": error.type, "message": error.message}}


def _openai_body(error: ApiError) -> Mapping[str, Any]:
    shown = {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
    return {"error": shown}


def _openai_text_body(error: ApiError) -> Mapping[str, Any]:
    kind = _native_type(error, unpaid="insufficient_quota")
    return {"error": {"message": error.message, "type": kind, "param": error.param, "code": error.code}}


def _anthropic_body(error: ApiError) -> Mapping[str, Any]:
    shown = {"type": _native_type(error, unpaid="billing_error"), "message": error.message}
    return {"type": "error", "error": shown, "request_id": request_ids.current()}


def _google_body(error: ApiError) -> Mapping[str, Any]:
    usual = "INTERNAL" if error.status >= 500 else "INVALID_ARGUMENT"
    status = error.type if _is_native(error) and error.type.isupper() else GOOGLE_STATUSES.get(error.status, usual)
    return {"error": {"code": error.status, "message": error.message, "status": status}}


def _native_type(error: ApiError, *, unpaid: str) -> str:
    if isinstance(error, InsufficientBalance):
        return unpaid
    usual = "api_error" if error.status >= 500 else "invalid_request_error"
    return error.type if _is_native(error) else NATIVE_TYPES.get(error.status, usual)


def _is_native(error: ApiError) -> bool:
    """Whether its type is a vendor's word, and none of the Task API's."""
    return not error.type.startswith("TASK_")


TASKS = ErrorDialect(body=_task_body, serves_sdks=False)
OPENAI = ErrorDialect(body=_openai_body, serves_sdks=True)
OPENAI_TEXT = ErrorDialect(body=_openai_text_body, serves_sdks=True)
ANTHROPIC = ErrorDialect(body=_anthropic_body, serves_sdks=True)
GOOGLE = ErrorDialect(body=_google_body, serves_sdks=True)

# The first that fits the whole path. None: the vendors share it, and its clients are told apart by their headers.
PATHS: tuple[tuple[re.Pattern[str], ErrorDialect | None], ...] = tuple(
    (re.compile(path, re.DOTALL), dialect)
    for path, dialect in (
        (r"/v1/(?:images|videos)(?:/.*)?", OPENAI),
        (r"/v1/(?:chat/completions|responses)", OPENAI_TEXT),
        (r"/v1/messages(?:/count_tokens)?", ANTHROPIC),
        (r"/v1beta/(?:models|tunedModels)(?:/.*)?", GOOGLE),
        (r"/v1/(?:models|tunedModels)/.+:(?:generateContent|streamGenerateContent|countTokens)", GOOGLE),
        (r"/v1/(?:models(?:/.*)?|usage)", None),
    )
)
OF_HEADERS = {b"anthropic-version": ANTHROPIC, b"x-goog-api-key": GOOGLE}


def of(path: str, sent: Iterable[tuple[bytes, bytes]] = ()) -> ErrorDialect:
    """That of the request's path; `sent` are its headers, with lower-case names."""
    for pattern, dialect in PATHS:
        if pattern.fullmatch(path):
            return dialect or _of_headers({name for name, _ in sent})
    return TASKS


def _of_headers(names: set[bytes]) -> ErrorDialect:
    return next((dialect for name, dialect in OF_HEADERS.items() if name in names), OPENAI_TEXT)


def headers(error: ApiError, dialect: ErrorDialect) -> dict[str, str]:
    """The error's own; every 429 and 503 says when to come back, and SDKs whether to."""
    own = dict(error.headers)
    if error.status in (429, 503):
        own.setdefault("Retry-After", str(RETRY_AFTER_SECONDS))
    if dialect.serves_sdks:
        if own.get("Retry-After", "").isdigit():
            own["Retry-After"] = str(min(int(own["Retry-After"]), LONGEST_RETRY_SECONDS))
        if error.may_have_cost:
            own["x-should-retry"] = "false"
    return own
