"""What OpenRouter's error bodies mean: `{"error": {"code": a number like an HTTP status, "message", "metadata"}}`.

Facts: OpenRouter's SDK 1.3.84 (error types) and its documentation of errors (403: moderation flagged the input).
"""

import re
from typing import Any

from adapters.base import ErrorKind
from adapters.kit.error_kinds import INTERRUPTED, SpokenError, spoken_error
from adapters.kit.error_shapes import says

MODERATED = "moderated"
FLAGS = frozenset({"flagged_input", "reasons"})
OPEN = (*sorted(INTERRUPTED), 500, 502, 504, 524)
CODES = {
    MODERATED: ErrorKind.CONTENT_POLICY,
    "400": ErrorKind.INVALID_REQUEST,
    "401": ErrorKind.AUTH,
    "402": ErrorKind.QUOTA_EXHAUSTED,
    "403": ErrorKind.FORBIDDEN,
    "404": ErrorKind.MODEL_UNAVAILABLE,
    "413": ErrorKind.INVALID_REQUEST,
    "429": ErrorKind.RATE_LIMITED,
    **dict.fromkeys(map(str, OPEN), ErrorKind.AMBIGUOUS),  # the code of a body is a status
    "503": ErrorKind.OVERLOADED,
    "529": ErrorKind.OVERLOADED,
}
# It comes with the number of an unknown model, and speaks of what this request asks of it.
UNSUPPORTED = re.compile(r"no endpoints found that (support|can handle)\b", re.IGNORECASE)
KEY_LIMIT = re.compile(r"key limit exceeded\b", re.IGNORECASE)  # it comes with the number of a forbidden key
CONTENT_WORDS = re.compile(
    r"moderat|flagged|content polic|sensitive content|safety (filter|system|polic)", re.IGNORECASE
)


def spoken(document: Any, status: int) -> SpokenError:
    """What a body says. A prompt refused by moderation has the number of a forbidden key, so it gets a code of ours."""
    error = document.get("error") if isinstance(document, dict) else None
    said = spoken_error({"error": error})  # what stands beside it is a proxy's
    if KEY_LIMIT.match(said.message):
        return said._replace(code="402")
    if UNSUPPORTED.match(said.message):
        return said._replace(code="400")
    if said.code in ("", "403") and (said.code or status == 403) and is_moderation(document, said.message):
        return said._replace(code=MODERATED)
    return said


def is_own(document: Any) -> bool:
    """`{"error": {code, message}}`."""
    return says(document.get("error"), "code", "message") if isinstance(document, dict) else False


def is_content(message: str) -> bool:
    """Whether a failed job's text, all that it has, speaks of its content."""
    return CONTENT_WORDS.search(message) is not None


def is_moderation(document: Any, message: str) -> bool:
    error = document.get("error") if isinstance(document, dict) else None
    metadata = error.get("metadata") if isinstance(error, dict) else None
    return is_content(message) or (isinstance(metadata, dict) and bool(metadata.keys() & FLAGS))
