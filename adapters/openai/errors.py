"""What the error codes of the OpenAI protocols mean; the gateways that speak the one for videos have some more."""

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Meaning

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
