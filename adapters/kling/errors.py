"""What the error codes of the Kling protocol mean, under whatever HTTP status they come.

Facts: the provider's table of error codes of 2026-09.
"""

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Meaning

# 5000 and 5002 are left to the status: they do not say whether a job was made.
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
}
