"""What the error bodies of the dialect `minimax_v2` mean.

Facts: MiniMax's OpenAPI description of its video generation V2.
"""

import re
from typing import Any

from adapters.base import ErrorKind, UpstreamError
from adapters.kit.error_kinds import SpokenError, spoken_error
from adapters.kit.error_shapes import error_object

# By the number that ends a message, or by the error's type.
CODES = {
    "1002": ErrorKind.RATE_LIMITED,
    "1004": ErrorKind.AUTH,
    "1008": ErrorKind.QUOTA_EXHAUSTED,
    "1026": ErrorKind.CONTENT_POLICY,
    "1027": ErrorKind.CONTENT_POLICY,
    "2013": ErrorKind.INVALID_REQUEST,
    "authorized_error": ErrorKind.AUTH,
    "bad_request_error": ErrorKind.INVALID_REQUEST,
    "insufficient_balance_error": ErrorKind.QUOTA_EXHAUSTED,
    "overloaded_error": ErrorKind.OVERLOADED,
    "rate_limit_error": ErrorKind.RATE_LIMITED,
}
NUMBER = re.compile(r"\((\d{4})\)\s*\Z")


def spoken(document: Any, status: int) -> SpokenError:
    """The error of an answer; its code is the number in parentheses at the end of the message."""
    error = spoken_error(document)
    number = NUMBER.search(error.message)
    return error._replace(code=number[1]) if number else error


def is_own(document: Any) -> bool:
    """`{"type": "error", "error": {type, message, http_code}}`."""
    return error_object(document) and document.get("type") == "error"


def is_unknown_job(error: UpstreamError) -> bool:
    """Whether the provider says in so many words that it has no such job."""
    return error.code == "2013" and "invalid task_id" in error.message
