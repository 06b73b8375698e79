"""What the error codes of the OpenAI protocols mean; the gateways that speak the one for videos have some more."""

import re
from typing import Any

from adapters.base import ErrorKind
from adapters.kit.error_kinds import LONGEST_SAID, SpokenError, spoken_error
from adapters.kit.error_shapes import error_object, says

CODES = {
    "moderation_blocked": ErrorKind.CONTENT_POLICY,
    "content_policy_violation": ErrorKind.CONTENT_POLICY,
    "billing_hard_limit_reached": ErrorKind.QUOTA_EXHAUSTED,
    "insufficient_quota": ErrorKind.QUOTA_EXHAUSTED,
    "invalid_api_key": ErrorKind.AUTH,
    "account_deactivated": ErrorKind.AUTH,
    "invalid_value": ErrorKind.INVALID_REQUEST,
    "model_not_found": ErrorKind.MODEL_UNAVAILABLE,
    "unsupported_model": ErrorKind.MODEL_UNAVAILABLE,
    "rate_limit_exceeded": ErrorKind.RATE_LIMITED,
}
VIDEO_CODES = {
    **CODES,
    "sentinel_block": ErrorKind.CONTENT_POLICY,
    "sensitive_words_detected": ErrorKind.CONTENT_POLICY,
    "insufficient_user_quota": ErrorKind.QUOTA_EXHAUSTED,
}


UNOPENED_MODEL = re.compile(
    r"\borganization must be verified to (?:use|stream) (?:the|this) model\b"
    r"|\bdoes not have access to (?:the )?model\b",
    re.IGNORECASE,
)


def spoken(document: Any, status: int) -> SpokenError:
    """What a body says. That the account may not use the model stands in the text alone."""
    said = spoken_error(document)
    is_model = status in (400, 403, 404) and UNOPENED_MODEL.search(said.message[:LONGEST_SAID])
    return said._replace(code="model_not_found") if is_model else said


def is_gateways(document: Any) -> bool:
    """OpenAI's `{"error": {…}}`, or the `{code, message, data}` of the gateways that speak the protocol for videos."""
    is_flat = says(document, "code", "message") and "data" in document and isinstance(document["code"], str)
    return error_object(document) or is_flat
