"""The documented error codes of DashScope (Alibaba Model Studio): the same for images and for videos."""

from typing import Any

from adapters.base import ErrorKind
from adapters.kit.error_kinds import NOT_HERE, Meaning
from adapters.kit.error_shapes import says

# By the whole code, else by the part before its first dot. InternalError and its kin are absent on purpose: whether a
# job was bought is as open as with any other 500.
CODES = {
    "InvalidApiKey": Meaning(ErrorKind.AUTH),
    "AccessDenied": Meaning(ErrorKind.AUTH),
    "App.AccessDenied": Meaning(ErrorKind.AUTH),
    "Workspace.AccessDenied": Meaning(ErrorKind.AUTH),
    "Model.AccessDenied": NOT_HERE,
    "ModelNotFound": NOT_HERE,
    "WorkSpaceNotFound": NOT_HERE,
    "Arrearage": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "AllocationQuota": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "CommodityNotPurchased": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "PrepaidBillOverdue": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "PostpaidBillOverdue": Meaning(ErrorKind.QUOTA_EXHAUSTED),
    "Throttling": Meaning(ErrorKind.RATE_LIMITED),
    "LimitRequests": Meaning(ErrorKind.RATE_LIMITED),
    "ModelUnavailable": Meaning(ErrorKind.OVERLOADED),
    "DataInspectionFailed": Meaning(ErrorKind.CONTENT_POLICY),
    "IPInfringementSuspect": Meaning(ErrorKind.CONTENT_POLICY),
    "InvalidParameter.DataInspection": Meaning(ErrorKind.ASSET_UNREACHABLE),  # the inspection could not fetch an input
    "InvalidURL.ConnectionRefused": Meaning(ErrorKind.ASSET_UNREACHABLE),
    "InvalidURL.Timeout": Meaning(ErrorKind.ASSET_UNREACHABLE),
    "InvalidParameter": Meaning(ErrorKind.INVALID_REQUEST),
    "InvalidURL": Meaning(ErrorKind.INVALID_REQUEST),
    "BadRequest": Meaning(ErrorKind.INVALID_REQUEST),
    # The model had the request for a while, whatever the status is.
    "RequestTimeOut": Meaning(ErrorKind.AMBIGUOUS),
    "ResponseTimeout": Meaning(ErrorKind.AMBIGUOUS),
}


def meaning_of(code: str) -> Meaning | None:
    """What an error code means; None for one that says nothing certain."""
    return CODES.get(code) or CODES.get(code.partition(".")[0])


def is_own(document: Any) -> bool:
    """`{code, message, request_id}` with a word for a code."""
    return says(document, "code", "message", "request_id") and isinstance(document["code"], str)
