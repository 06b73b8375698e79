"""What the error codes of the Kling protocol mean, under whatever HTTP status they come.

Facts: the provider's table of error codes of 2026-09.
"""

from typing import Any

from adapters.base import ErrorKind
from adapters.kit.error_kinds import SpokenError, spoken_error
from adapters.kit.error_shapes import says

# 5000 is left to the status: it does not say whether a job was made. 5002 is a time-out, whatever the status is.
NO_MODEL = "unknown_model"  # a code of ours
CODES = {
    **dict.fromkeys(("1000", "1001", "1002", "1003", "1004"), ErrorKind.AUTH),
    "1100": ErrorKind.QUOTA_EXHAUSTED,
    "1101": ErrorKind.QUOTA_EXHAUSTED,
    "1102": ErrorKind.QUOTA_EXHAUSTED,
    "1103": ErrorKind.AUTH,
    "1200": ErrorKind.INVALID_REQUEST,
    "1201": ErrorKind.INVALID_REQUEST,
    "1202": ErrorKind.INVALID_REQUEST,
    "1203": ErrorKind.INVALID_REQUEST,
    NO_MODEL: ErrorKind.MODEL_UNAVAILABLE,
    "1300": ErrorKind.CONTENT_POLICY,
    "1301": ErrorKind.CONTENT_POLICY,
    "1302": ErrorKind.RATE_LIMITED,
    "1303": ErrorKind.RATE_LIMITED,
    "1304": ErrorKind.AUTH,
    "5001": ErrorKind.OVERLOADED,
    "5002": ErrorKind.AMBIGUOUS,
}
LOWEST_CODE = 1000  # a gateway in front of it may write the HTTP status as its code


def spoken(document: Any, status: int) -> SpokenError:
    """The error of an answer. The codes of an unknown resource or method may name the model."""
    said = spoken_error(document)
    names_model = said.code in ("1202", "1203") and "model" in said.message.lower()
    return said._replace(code=NO_MODEL) if names_model else said


def is_own(document: Any) -> bool:
    """`{code, message, request_id}`."""
    if not says(document, "code", "message", "request_id"):
        return False
    code = document["code"]
    return isinstance(code, int) and code >= LOWEST_CODE
