"""How errors look on the wire: one internal type (`common/errors.py`), a shape for each family of paths.

The shapes are those that the official SDKs read: OpenAI's takes class and retries from the status, and message, type,
code and param from the body.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import ApiError

RETRY_AFTER_SECONDS = 5
LONGEST_RETRY_SECONDS = 60  # SDKs give up on more, or sleep however long it is


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDialect:
    """Of one family of paths. `serves_sdks`: SDKs retry by themselves there, and are told when they must not."""

    body: Callable[[ApiError], Mapping[str, Any]]
    serves_sdks: bool


def _task_body(error: ApiError) -> Mapping[str, Any]:
    return {"error": {"type": error.type, "message": error.message}}


def _openai_body(error: ApiError) -> Mapping[str, Any]:
    shown = {"message": error.message, "type": error.type, "param": error.param, "code": error.type}
    return {"error": shown}


TASKS = ErrorDialect(body=_task_body, serves_sdks=False)
OPENAI = ErrorDialect(body=_openai_body, serves_sdks=True)
OPENAI_PATHS = re.compile(r"/v1/(?:images|videos)(?:/.*)?", re.DOTALL)


def of(path: str) -> ErrorDialect:
    """That of the request's path."""
    return OPENAI if OPENAI_PATHS.fullmatch(path) else TASKS


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
