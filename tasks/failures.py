"""Why a task fails, as its client reads it: a fixed type and message each, without provider text or names."""

from dataclasses import dataclass

from adapters.base import ErrorKind
from common import error_types


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The `error` of a failed or timed-out task."""

    type: str
    message: str
    retryable: bool


OUTCOME_UNKNOWN = Failure(
    type=error_types.OUTCOME_UNKNOWN.name,
    message="The provider may have run this task, but its answer was lost. It is not charged.",
    retryable=True,
)
STORAGE_UNAVAILABLE = Failure(
    type=error_types.STORAGE_UNAVAILABLE.name,
    message="The result could not be copied to asset storage.",
    retryable=True,
)
ROUTE_VANISHED = Failure(
    type=error_types.NO_CAPABLE_ROUTE.name, message="No route that can run this task is left.", retryable=True
)
TIMED_OUT = Failure(type=error_types.TIMEOUT.name, message="The task did not end before its deadline.", retryable=True)
INTERNAL = Failure(
    type=error_types.INTERNAL_ERROR.name, message="The task failed by a fault of this service.", retryable=True
)
UNAVAILABLE = Failure(
    type=error_types.UPSTREAM_ERROR.name, message="No provider is available for this task.", retryable=True
)
NO_USABLE_RESULT = Failure(
    type=error_types.UPSTREAM_ERROR.name, message="The provider delivered no usable result.", retryable=True
)
REJECTED = Failure(
    type=error_types.UPSTREAM_REJECTED.name, message="The provider does not accept this request.", retryable=False
)
OF_KIND: dict[str, Failure] = {
    ErrorKind.INVALID_REQUEST: REJECTED,
    ErrorKind.MODEL_UNAVAILABLE: REJECTED,
    ErrorKind.CONTENT_POLICY: Failure(
        type=error_types.CONTENT_REJECTED.name,
        message="The content was rejected by the provider's policy.",
        retryable=False,
    ),
    ErrorKind.ASSET_UNREACHABLE: Failure(
        type=error_types.INPUT_UNREACHABLE.name, message="An input asset could not be fetched.", retryable=False
    ),
    ErrorKind.EMPTY_RESULT: NO_USABLE_RESULT,
    ErrorKind.PROVIDER_FAILED: Failure(
        type=error_types.UPSTREAM_ERROR.name, message="The provider could not complete the task.", retryable=True
    ),
}
