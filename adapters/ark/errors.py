"""The documented error codes of Ark (BytePlus, Volcengine): the same for images and for videos."""

from adapters.base import ErrorKind

# By the whole code, else by the part before its first dot, as of InvalidParameter.OversizeImage.
CODES = {
    "AuthenticationError": ErrorKind.AUTH,
    "AccessDenied": ErrorKind.AUTH,
    "InvalidAccountStatus": ErrorKind.AUTH,
    "ModelNotOpen": ErrorKind.MODEL_UNAVAILABLE,
    "InvalidEndpointOrModel": ErrorKind.MODEL_UNAVAILABLE,
    "AccountOverdueError": ErrorKind.QUOTA_EXHAUSTED,
    "QuotaExceeded": ErrorKind.QUOTA_EXHAUSTED,
    "SetLimitExceeded": ErrorKind.QUOTA_EXHAUSTED,
    "OperationDenied.ServiceNotOpen": ErrorKind.MODEL_UNAVAILABLE,
    "OperationDenied.ServiceOverdue": ErrorKind.QUOTA_EXHAUSTED,
    "ServerOverloaded": ErrorKind.OVERLOADED,
    "ModelLoadingError": ErrorKind.OVERLOADED,
    "MissingParameter": ErrorKind.INVALID_REQUEST,
    "InvalidParameter": ErrorKind.INVALID_REQUEST,
}


def kind_of(code: str) -> ErrorKind | None:
    """What an error code means; None for one that is not documented."""
    if "SensitiveContentDetected" in code:
        return ErrorKind.CONTENT_POLICY
    if "RateLimitExceeded" in code:
        return ErrorKind.RATE_LIMITED
    return CODES.get(code) or CODES.get(code.partition(".")[0])
