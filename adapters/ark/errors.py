"""The documented error codes of Ark (BytePlus, Volcengine): the same for images and for videos."""

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Verdict

# By the part before the first dot: codes come with a suffix such as InvalidParameter.OversizeImage.
CODES = {
    "AuthenticationError": Verdict(ErrorKind.AUTH),
    "AccessDenied": Verdict(ErrorKind.AUTH),
    "ModelNotOpen": NOT_HERE,
    "InvalidEndpointOrModel": NOT_HERE,
    "AccountOverdueError": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "QuotaExceeded": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "ServerOverloaded": Verdict(ErrorKind.OVERLOADED),
    "ModelLoadingError": Verdict(ErrorKind.OVERLOADED),
    "MissingParameter": Verdict(ErrorKind.INVALID_REQUEST),
    "InvalidParameter": Verdict(ErrorKind.INVALID_REQUEST),
}


def verdict_of(code: str) -> Verdict | None:
    """What an error code means; None for one that is not documented."""
    if "SensitiveContentDetected" in code:
        return Verdict(ErrorKind.CONTENT_POLICY)
    if "RateLimitExceeded" in code:
        return Verdict(ErrorKind.RATE_LIMITED)
    return CODES.get(code.partition(".")[0])
