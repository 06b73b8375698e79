"""What the error codes of the Kling protocol mean, under whatever HTTP status they come.

Facts: the provider's table of error codes of 2026-09.
"""

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Verdict

# 5000 and 5002 are left to the status: they do not say whether a job was made.
CODES = {
    **dict.fromkeys(("1000", "1001", "1002", "1003", "1004"), Verdict(ErrorKind.AUTH)),
    "1100": Verdict(ErrorKind.AUTH),
    "1101": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "1102": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "1103": Verdict(ErrorKind.AUTH),
    "1200": Verdict(ErrorKind.INVALID_REQUEST),
    "1201": Verdict(ErrorKind.INVALID_REQUEST),
    "1202": NOT_HERE,
    "1203": NOT_HERE,
    "1300": Verdict(ErrorKind.CONTENT_POLICY),
    "1301": Verdict(ErrorKind.CONTENT_POLICY),
    "1302": Verdict(ErrorKind.RATE_LIMITED),
    "1303": Verdict(ErrorKind.RATE_LIMITED),
    "1304": Verdict(ErrorKind.AUTH),
    "5001": Verdict(ErrorKind.OVERLOADED),
}


def verdict_of(code: str) -> Verdict | None:
    return CODES.get(code)
