"""What `gemini_generate_content` says when it refuses: in an error body, or in a success without a picture.

Facts: Google's troubleshooting guide of the Gemini API, its error model google.rpc (ErrorInfo, QuotaFailure, RetryInfo)
and the enums BlockedReason and FinishReason of google-genai 3.4.0.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.base import ErrorKind, text
from adapters.kit.error_kinds import LONGEST_SAID, LONGEST_WAIT_SECONDS, SpokenError, spoken_error
from adapters.kit.error_shapes import says

# Codes of ours for what is said in words only: another's file, and a model that is served by another method.
NO_ACCESS, NO_MODEL = "no_access_to_file", "model_not_served"
WORDS = (
    (re.compile(r"permission to access the (?:file|cached ?content)\b", re.IGNORECASE), NO_ACCESS),
    (re.compile(r"\bonly supports Interactions API\b|\bis not supported for generateContent\b"), NO_MODEL),
    (re.compile(r"API key (?:not valid|expired)\b"), "API_KEY_INVALID"),
)
REFUSALS = frozenset({"INVALID_ARGUMENT", "FAILED_PRECONDITION", "PERMISSION_DENIED"})
# An error's `status`, an ErrorInfo's `reason`, or the `code`, which is the HTTP status once more. An internal error is
# left to the HTTP status; after a deadline nobody knows what was made, whatever that is.
CODES = {
    "API_KEY_INVALID": ErrorKind.AUTH,
    "API_KEY_EXPIRED": ErrorKind.AUTH,
    "API_KEY_SERVICE_BLOCKED": ErrorKind.AUTH,
    "API_KEY_HTTP_REFERRER_BLOCKED": ErrorKind.AUTH,
    "API_KEY_IP_ADDRESS_BLOCKED": ErrorKind.AUTH,
    "SERVICE_DISABLED": ErrorKind.AUTH,
    "BILLING_DISABLED": ErrorKind.QUOTA_EXHAUSTED,
    "CANCELLED": ErrorKind.AMBIGUOUS,
    "CONSUMER_SUSPENDED": ErrorKind.AUTH,
    "DEADLINE_EXCEEDED": ErrorKind.AMBIGUOUS,
    "FAILED_PRECONDITION": ErrorKind.FORBIDDEN,  # the key's project, or where we call from, is not served
    "INVALID_ARGUMENT": ErrorKind.INVALID_REQUEST,
    "NOT_FOUND": ErrorKind.MODEL_UNAVAILABLE,
    "PERMISSION_DENIED": ErrorKind.FORBIDDEN,
    NO_ACCESS: ErrorKind.INVALID_REQUEST,
    NO_MODEL: ErrorKind.MODEL_UNAVAILABLE,
    "RESOURCE_EXHAUSTED": ErrorKind.RATE_LIMITED,
    "UNAUTHENTICATED": ErrorKind.AUTH,
    "UNAVAILABLE": ErrorKind.OVERLOADED,
    "400": ErrorKind.INVALID_REQUEST,
    "401": ErrorKind.AUTH,
    "403": ErrorKind.FORBIDDEN,
    "404": ErrorKind.MODEL_UNAVAILABLE,
    "429": ErrorKind.RATE_LIMITED,
    "503": ErrorKind.OVERLOADED,
}
# A quota that does not come back within minutes, in the name of the quota or in the message.
USED_UP = re.compile(r"per ?day|limit: 0(?![\d.])|\bspend|prepa(?:y|id)|credits", re.IGNORECASE)
WAIT = re.compile(r"retry in ([0-9]+(?:\.[0-9]+)?) ?s", re.IGNORECASE)
STOPS = {
    "SAFETY": ErrorKind.CONTENT_POLICY,
    "IMAGE_SAFETY": ErrorKind.CONTENT_POLICY,
    "PROHIBITED_CONTENT": ErrorKind.CONTENT_POLICY,
    "IMAGE_PROHIBITED_CONTENT": ErrorKind.CONTENT_POLICY,
    "RECITATION": ErrorKind.CONTENT_POLICY,
    "IMAGE_RECITATION": ErrorKind.CONTENT_POLICY,
    "SPII": ErrorKind.CONTENT_POLICY,
    "BLOCKLIST": ErrorKind.CONTENT_POLICY,
    "MODEL_ARMOR": ErrorKind.CONTENT_POLICY,
    "ESCALATION": ErrorKind.CONTENT_POLICY,
    "PUP_LIMITED_DISABLED": ErrorKind.FORBIDDEN,  # the account is limited for what was done with it before
}


def kind_of(code: str) -> ErrorKind | None:
    """What a code of an error body means; None where the HTTP status decides."""
    return ErrorKind.QUOTA_EXHAUSTED if USED_UP.search(code) else CODES.get(code)


def spoken(document: Any) -> SpokenError:
    """The error in Google's shape: as code what the details name, where that says more than `status`, which is the
    type. A wait among the details is added to the message. Codes in other shapes are a proxy's: statuses, mostly."""
    body = mapping(mapping(document).get("error"))
    if not body:
        return SpokenError(message=spoken_error(document).message)
    details, message, kind = mappings(body.get("details")), text(body.get("message")), text(body.get("status"))
    quota = _used_up(message, details) if kind == "RESOURCE_EXHAUSTED" else ""
    reason = next(filter(CODES.get, (text(detail.get("reason")) for detail in details)), "")
    delay = next(filter(None, (text(detail.get("retryDelay")) for detail in details)), "")
    in_words = next((code for words, code in WORDS if kind in REFUSALS and words.search(message[:LONGEST_SAID])), "")
    told = message if not delay or WAIT.search(message) else f"{message} Please retry in {delay}."
    return SpokenError(code=quota or reason or in_words or kind or text(body.get("code")), type=kind, message=told)


def is_own(document: Any) -> bool:
    """`{"error": {code, message, status}}`."""
    return says(mapping(mapping(document).get("error")), "code", "status")


def wait_of(message: str) -> float | None:
    """The seconds that a refusal asks to wait."""
    named = WAIT.search(message)
    return min(float(named[1]), LONGEST_WAIT_SECONDS) if named else None


def stop_of(document: Mapping[str, Any]) -> tuple[ErrorKind, str] | None:
    """Why a success has no picture, as kind and the provider's word; None for a document that is no answer at all."""
    if block := text(mapping(document.get("promptFeedback")).get("blockReason")):
        return ErrorKind.CONTENT_POLICY, block
    candidates = document.get("candidates")
    if not isinstance(candidates, list) and not mapping(document.get("usageMetadata")):
        return None
    words = [text(candidate.get("finishReason")) for candidate in mappings(candidates)]
    word = next(filter(None, words), "")
    return STOPS.get(word, ErrorKind.EMPTY_RESULT), word


def mapping(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[dict[str, Any]]:
    """The objects of the value, if it is a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _used_up(message: str, details: list[dict[str, Any]]) -> str:
    """The name of a quota that is used up, else the words of the message that say so; empty for a mere rate."""
    said = USED_UP.search(message)
    return next(filter(USED_UP.search, _quotas(details)), "") or (said[0] if said else "")


def _quotas(details: list[dict[str, Any]]) -> Iterator[str]:
    """The names of the quotas that are exceeded."""
    for detail in details:
        yield text(mapping(detail.get("metadata")).get("quota_limit"))
        yield from (text(violation.get("quotaId")) for violation in mappings(detail.get("violations")))
