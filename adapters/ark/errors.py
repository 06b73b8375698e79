"""The documented error codes of Ark (BytePlus, Volcengine): the same for images and for videos."""

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Meaning

# By the part before the first dot: codes come with a suffix such as InvalidParameter.OversizeImage.
CODES = {
    "AuthenticationError": Meaning(ErrorKind.AUTH),
    "AccessDenied": Meaning(ErrorKind.AUTH),
    "ModelNotOpen": NOT_HERE,
    "InvalidEndpointOrModel": NOT_HERE,
    "AccountOverdueError": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "QuotaExceeded": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "ServerOverloaded": Meaning(ErrorKind.OVERLOADED),
    "ModelLoadingError": Meaning(ErrorKind.OVERLOADED),
    "MissingParameter": Meaning(ErrorKind.INVALID_REQUEST),
    "InvalidParameter": Meaning(ErrorKind.INVALID_REQUEST),
}


def meaning_of(code: str) -> Meaning | None:
    """What an error code means; None for one that is not documented."""
    if "SensitiveContentDetected" in code:
        return Meaning(ErrorKind.CONTENT_POLICY)
    if "RateLimitExceeded" in code:
        return Meaning(ErrorKind.RATE_LIMITED)
    return CODES.get(code.partition(".")[0])
