"""What the error codes of the Kling protocol mean, under whatever HTTP status they come.

Facts: the provider's table of error codes of 2026-09.
"""

from typing import Any

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Meaning
from adapters.kit.error_shapes import says

# 5000 is left to the status: it does not say whether a job was made. 5002 is a time-out, whatever the status is.
CODES = {
    **dict.fromkeys(("1000", "1001", "1002", "1003", "1004"), Meaning(ErrorKind.AUTH)),
    "1100": Meaning(ErrorKind.AUTH),
    "1101": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "1102": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "1103": Meaning(ErrorKind.AUTH),
    "1200": Meaning(ErrorKind.INVALID_REQUEST),
    "1201": Meaning(ErrorKind.INVALID_REQUEST),
    "1202": NOT_HERE,
    "1203": NOT_HERE,
    "1300": Meaning(ErrorKind.CONTENT_POLICY),
    "1301": Meaning(ErrorKind.CONTENT_POLICY),
    "1302": Meaning(ErrorKind.RATE_LIMITED),
    "1303": Meaning(ErrorKind.RATE_LIMITED),
    "1304": Meaning(ErrorKind.AUTH),
    "5001": Meaning(ErrorKind.OVERLOADED),
    "5002": Meaning(ErrorKind.AMBIGUOUS),
}
LOWEST_CODE = 1000  # a gateway in front of it may write the HTTP status as its code


def is_own(document: Any) -> bool:
    """`{code, message, request_id}`."""
    if not says(document, "code", "message", "request_id"):
        return False
    code = document["code"]
    return isinstance(code, int) and code >= LOWEST_CODE
