"""The documented error codes of DashScope (Alibaba Model Studio): the same for images and for videos."""

from typing import Any

from adapters.base import ErrorKind
from adapters.kit.error_shapes import says

# By the whole code, else by the part before its first dot. InternalError and its kin are absent on purpose: whether a
# job was bought is as open as with any other 500.
CODES = {
    "InvalidApiKey": ErrorKind.AUTH,
    "AccessDenied": ErrorKind.AUTH,
    "App.AccessDenied": ErrorKind.AUTH,
    "Workspace.AccessDenied": ErrorKind.AUTH,
    "Model.AccessDenied": ErrorKind.MODEL_UNAVAILABLE,
    "ModelNotFound": ErrorKind.MODEL_UNAVAILABLE,
    "WorkSpaceNotFound": ErrorKind.MODEL_UNAVAILABLE,
    "Arrearage": ErrorKind.QUOTA_EXHAUSTED,
    "AllocationQuota": ErrorKind.QUOTA_EXHAUSTED,
    "CommodityNotPurchased": ErrorKind.QUOTA_EXHAUSTED,
    "PrepaidBillOverdue": ErrorKind.QUOTA_EXHAUSTED,
    "PostpaidBillOverdue": ErrorKind.QUOTA_EXHAUSTED,
    "Throttling": ErrorKind.RATE_LIMITED,
    "LimitRequests": ErrorKind.RATE_LIMITED,
    "ModelUnavailable": ErrorKind.OVERLOADED,
    "DataInspectionFailed": ErrorKind.CONTENT_POLICY,
    "IPInfringementSuspect": ErrorKind.CONTENT_POLICY,
    "InvalidParameter.DataInspection": ErrorKind.ASSET_UNREACHABLE,  # the inspection could not fetch an input
    "InvalidURL.ConnectionRefused": ErrorKind.ASSET_UNREACHABLE,
    "InvalidURL.Timeout": ErrorKind.ASSET_UNREACHABLE,
    "InvalidParameter": ErrorKind.INVALID_REQUEST,
    "InvalidURL": ErrorKind.INVALID_REQUEST,
    "BadRequest": ErrorKind.INVALID_REQUEST,
    # The model had the request for a while, whatever the status is.
    "RequestTimeOut": ErrorKind.AMBIGUOUS,
    "ResponseTimeout": ErrorKind.AMBIGUOUS,
}


def kind_of(code: str) -> ErrorKind | None:
    """What an error code means; None for one that says nothing certain."""
    return CODES.get(code) or CODES.get(code.partition(".")[0])


def is_own(document: Any) -> bool:
    """`{code, message, request_id}` with a word for a code."""
    return says(document, "code", "message", "request_id") and isinstance(document["code"], str)
