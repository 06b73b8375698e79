"""How errors look on the wire: one internal type (`common/errors.py`), a shape for each family of paths.

The shapes are those that the official SDKs read: OpenAI's and Anthropic's take class and retries from the status,
Google's from the code in the body; message, type and field at fault come from the body.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from common import logs
from common.errors import ApiError, InsufficientBalance, ModelNotFound

RETRY_AFTER_SECONDS = 5
LONGEST_RETRY_SECONDS = 60  # SDKs give up on more, or sleep however long it is

HOPELESS = frozenset({400, 401, 402, 403, 404})  # the same request is refused again, however often it is sent

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
    """Of one family of paths. `serves_sdks`: SDKs retry by themselves there, and are told when they must not.
    `unpaid_status` is the vendor's own for too little balance."""

    body: Callable[[ApiError], Mapping[str, Any]]
    serves_sdks: bool
    unpaid_status: int | None = None

    def status(self, error: ApiError) -> int:
        return self.unpaid_status if self.unpaid_status and isinstance(error, InsufficientBalance) else error.status


def _task_body(error: ApiError) -> Mapping[str, Any]:
    return {"error": {"type": error.type, "message": error.message}}


def _openai_body(error: ApiError) -> Mapping[str, Any]:
    kind = "invalid_request_error" if isinstance(error, ModelNotFound) else error.type
    return _openai_error(error, kind, error.code)


def _openai_text_body(error: ApiError) -> Mapping[str, Any]:
    if isinstance(error, InsufficientBalance):
        return _openai_error(error, "insufficient_quota", "insufficient_quota")
    kind = "invalid_request_error" if isinstance(error, ModelNotFound) else _native_type(error)
    return _openai_error(error, kind, error.code)


def _openai_error(error: ApiError, kind: str, code: str) -> Mapping[str, Any]:
    return {"error": {"message": error.message, "type": kind, "param": error.param, "code": code}}


def _anthropic_body(error: ApiError) -> Mapping[str, Any]:
    kind = "billing_error" if isinstance(error, InsufficientBalance) else _native_type(error)
    details = {"details": error.details} if error.details else {}
    shown = {"type": kind, "message": error.message, **details}
    return {"type": "error", "error": shown, "request_id": logs.request_id()}


def _google_body(error: ApiError) -> Mapping[str, Any]:
    code = GOOGLE.status(error)
    usual = "INTERNAL" if code >= 500 else "INVALID_ARGUMENT"
    status = error.type if _is_native(error) and error.type.isupper() else GOOGLE_STATUSES.get(code, usual)
    return {"error": {"code": code, "message": error.message, "status": status}}


def _native_type(error: ApiError) -> str:
    usual = "api_error" if error.status >= 500 else "invalid_request_error"
    return error.type if _is_native(error) else NATIVE_TYPES.get(error.status, usual)


def _is_native(error: ApiError) -> bool:
    """Whether its type is a vendor's word, and none of the Task API's."""
    return not error.type.startswith("TASK_")


# Too little balance: Codex ends at once on OpenAI's 429 of this type, Claude Code shows Anthropic's 402 as it is, and
# Gemini CLI ends at once on 403, which is Google's for an account without billing; a 429 of Google's is repeated.
TASKS = ErrorDialect(body=_task_body, serves_sdks=False)
OPENAI = ErrorDialect(body=_openai_body, serves_sdks=True)
OPENAI_TEXT = ErrorDialect(body=_openai_text_body, serves_sdks=True, unpaid_status=429)
ANTHROPIC = ErrorDialect(body=_anthropic_body, serves_sdks=True, unpaid_status=402)
GOOGLE = ErrorDialect(body=_google_body, serves_sdks=True, unpaid_status=403)

TASK_PATHS = "/v1/tasks"
OWN_ROOTS = r"(?!/(?:v1/(?:tasks|admin)|admin|console|docs|assets)(?:/|$))"
GOOGLES_CALLS = r"\w*[Gg]enerateContent|countTokens|\w*[Ee]mbedContents?|predict\w*"
# The first that fits the whole path: those that are served, then the vendors' others, then what a wrong base URL makes
# of a served one. None: the vendors share it, and its clients are told apart by their headers.
PATHS: tuple[tuple[re.Pattern[str], ErrorDialect | None], ...] = tuple(
    (re.compile(path, re.DOTALL), dialect)
    for path, dialect in (
        (r"/v1/(?:images|videos)(?:/.*)?", OPENAI),
        (r"/v1/(?:chat|responses)(?:/.*)?", OPENAI_TEXT),
        (r"/v1/messages(?:/.*)?", ANTHROPIC),
        (r"/v1beta/openai/.*", OPENAI_TEXT),
        (r"/v1beta(?:/.*)?", GOOGLE),
        (rf"/v1/(?:models|tunedModels)/.+:(?:{GOOGLES_CALLS})", GOOGLE),
        (r"/v1/(?:models(?:/.*)?|usage)", None),
        (
            r"/v1/(?:assistants|audio|completions|containers|conversations|embeddings|evals|fine_tuning|moderations"
            r"|realtime|threads|uploads|vector_stores)(?:/.*)?",
            OPENAI_TEXT,
        ),
        (r"/v1/(?:complete|organizations(?:/.*)?)", ANTHROPIC),
        (r"/v1/(?:batches|files|organization|skills)(?:/.*)?", None),
        (r"/v1/cachedContents(?:/.*)?|/v1alpha(?:/.*)?|/upload/v1.*", GOOGLE),
        (rf"{OWN_ROOTS}(?:/.*)?/(?:chat/completions|responses|images/(?:generations|edits))", OPENAI_TEXT),
        (rf"{OWN_ROOTS}(?:/.*)?/messages(?:/count_tokens)?", ANTHROPIC),
        (rf"{OWN_ROOTS}(?:/.*)?/models/[^/]+:(?:{GOOGLES_CALLS})", GOOGLE),
        (rf"{OWN_ROOTS}(?:/.*)?/models", None),
    )
)
OF_HEADERS = {b"anthropic-version": ANTHROPIC, b"x-goog-api-key": GOOGLE}


def of(path: str, sent: Iterable[tuple[bytes, bytes]] = ()) -> ErrorDialect:
    """That of the request's path; `sent` are its headers, with lower-case names."""
    if path.startswith(TASK_PATHS):
        return TASKS
    for pattern, dialect in PATHS:
        if pattern.fullmatch(path):
            return dialect or _of_headers({name for name, _ in sent})
    return TASKS


def _of_headers(names: set[bytes]) -> ErrorDialect:
    return next((dialect for name, dialect in OF_HEADERS.items() if name in names), OPENAI_TEXT)


def headers(error: ApiError, dialect: ErrorDialect) -> dict[str, str]:
    """The error's own; every 429 and 503 says when to come back, latest for an empty balance, which no time refills;
    and SDKs are told whether to."""
    own = dict(error.headers)
    status, is_unpaid = dialect.status(error), isinstance(error, InsufficientBalance)
    if status in (429, 503):
        own.setdefault("Retry-After", str(LONGEST_RETRY_SECONDS if is_unpaid else RETRY_AFTER_SECONDS))
    if dialect.serves_sdks:
        if own.get("Retry-After", "").isdigit():
            own["Retry-After"] = str(min(int(own["Retry-After"]), LONGEST_RETRY_SECONDS))
        if error.may_have_cost or is_unpaid or status in HOPELESS:
            own["x-should-retry"] = "false"
    return own
