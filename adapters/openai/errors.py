"""What the error codes of the OpenAI protocols mean; the gateways that speak the one for videos have some more."""

from typing import Any

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Meaning
from adapters.kit.error_shapes import error_object, says

CODES = {
    "moderation_blocked": Meaning(ErrorKind.CONTENT_POLICY),
    "content_policy_violation": Meaning(ErrorKind.CONTENT_POLICY),
    "billing_hard_limit_reached": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "insufficient_quota": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "invalid_api_key": Meaning(ErrorKind.AUTH),
    "model_not_found": NOT_HERE,
    "rate_limit_exceeded": Meaning(ErrorKind.RATE_LIMITED),
}
VIDEO_CODES = {
    **CODES,
    "sentinel_block": Meaning(ErrorKind.CONTENT_POLICY),
    "sensitive_words_detected": Meaning(ErrorKind.CONTENT_POLICY),
    "insufficient_user_quota": Meaning(ErrorKind.QUOTA_EXHAUSTED),
}


def is_gateways(document: Any) -> bool:
    """OpenAI's `{"error": {…}}`, or the `{code, message, data}` of the gateways that speak the protocol for videos."""
    is_flat = says(document, "code", "message") and "data" in document and isinstance(document["code"], str)
    return error_object(document) or is_flat
