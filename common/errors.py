"""The errors that a client can get: a class for each type of the Task API (`common/error_types.py`), and those in words
of the vendors whose paths the relay serves.

Raised anywhere in the domain; only the front (`front/error_responses.py`) turns one into a response.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from common import error_types
from common.error_types import ErrorType


class ApiError(Exception):
    """An error with a documented type and HTTP status. The message is for the client: no secret, no provider name.

    `param` is the field at fault, by its path. `may_have_cost`: what was asked for may exist, and asked again it may
    be bought once more. `details` are what some dialects show beside the message. How all this looks on the wire,
    `common/http/dialects.py` says.
    """

    type: str
    status: int
    default_message: ClassVar[str] = ""

    def __init_subclass__(cls, *, of: ErrorType | None = None) -> None:
        """Take type and status from the declaration."""
        super().__init_subclass__()
        if of is not None:
            cls.type, cls.status = of.name, of.statuses[0]

    def __init__(
        self,
        message: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        param: str | None = None,
        may_have_cost: bool = False,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = message or self.default_message
        self.headers = dict(headers or {})
        self.param = param
        self.may_have_cost = may_have_cost
        self.details = details
        super().__init__(self.message)

    @property
    def code(self) -> str:
        """What OpenAI's clients read besides the type."""
        return self.type


class AuthenticationError(ApiError, of=error_types.AUTHENTICATION_ERROR):
    default_message = "API key missing or invalid."


class ScopeRequired(ApiError, of=error_types.SCOPE_REQUIRED):
    default_message = "This key is not enabled for the Task API."


class GeneralKeyRefused(ScopeRequired):
    """The key is none of the Task API's at all."""


class ImagesUnsupported(ApiError):
    """The interface's own words, which clients compare."""

    type, status = "not_found_error", 404
    default_message = "Images API is not supported for this platform"


class PermissionRefused(ApiError):
    """The key is good, but not for this path."""

    type, status = "permission_error", 403
    default_message = (
        "This API key may not call this endpoint: it is a Task key, for /v1/tasks and /v1/images. "
        "This endpoint needs a general key (it begins with dr-gen-)."
    )


class EndpointUnsupported(ApiError):
    """The path exists, but not for the platform of the key's group."""

    type, status = "not_found_error", 404
    default_message = (
        "This endpoint is not supported for this platform: the group of this API key speaks the protocol of another "
        "vendor. Call that vendor's paths, or use a key of another group."
    )


class PathNotServed(ApiError):
    """A vendor has the path, or a client with a wrong base URL calls it. The message says what to do."""

    type, status = "not_found_error", 404


class UpgradeRequired(ApiError):
    """A WebSocket is asked for, which no path offers: the header names what is spoken (RFC 9110, 15.5.22)."""

    type, status = "invalid_request_error", 426
    default_message = "WebSocket is not served here. Send POST /v1/responses over HTTP."

    def __init__(self) -> None:
        super().__init__(headers={"Upgrade": "HTTP/1.1", "Connection": "Upgrade"})


class ModelNotFound(ApiError):
    """A model that a general key's group has no price for, or that no upstream knows: it is not on offer."""

    type, status = "not_found_error", 404

    @property
    def code(self) -> str:
        return "model_not_found"


class UpstreamRefusal(ApiError):
    """A relayed request that its provider refuses, in the provider's words: they are what the caller needs.

    Clients of OpenAI's compare its `code` (`context_length_exceeded`, say).
    """

    def __init__(self, message: str, *, status: int, error_type: str, param: str | None = None, code: str = "") -> None:
        self.type, self.status = error_type, status
        self._code = code
        super().__init__(message, param=param)

    @property
    def code(self) -> str:
        return self._code or self.type


class UpstreamBusy(ApiError):
    """Every channel of the group rests after a rate limit."""

    type, status = "rate_limit_error", 429
    default_message = "The model is busy; try again later."


class UpstreamUnavailable(ApiError):
    """No channel of the group can be reached now; surely nothing was bought."""

    type, status = "overloaded_error", 503
    default_message = "The model is temporarily unavailable."


class UpstreamForbidden(ApiError):
    """A provider forbids the call without a reason, and no other channel is left; nothing was bought."""

    type, status = "api_error", 502
    default_message = "The provider does not let this call through, and does not say why. Nothing is charged."


class UpstreamUnknown(ApiError):
    """Nobody knows whether the provider has run the call. It is not charged, and not repeated."""

    type, status = "api_error", 502
    default_message = "The provider's answer was lost. The call may have run; it is not charged."

    def __init__(self, message: str = "") -> None:
        super().__init__(message, may_have_cost=True)


class UpstreamTimeout(ApiError):
    """The provider has not answered within the time of one call."""

    type, status = "timeout_error", 504
    default_message = "The provider has not answered in time. The call may have run; it is not charged."

    def __init__(self, message: str = "") -> None:
        super().__init__(message, may_have_cost=True)


class BillingUnsupported(ApiError, of=error_types.BILLING_UNSUPPORTED):
    default_message = "Subscription billing is not supported for tasks."


class InsufficientBalance(ApiError, of=error_types.INSUFFICIENT_BALANCE):
    pass


class InsufficientQuota(InsufficientBalance):
    """Of a relayed call: OpenAI's word and status, on which coding agents end at once."""

    type, status = "insufficient_quota", 429


class InvalidRequest(ApiError, of=error_types.INVALID_REQUEST):
    pass


class UnsupportedModel(ApiError, of=error_types.UNSUPPORTED_MODEL):
    pass


class UnsupportedAdapter(ApiError, of=error_types.UNSUPPORTED_ADAPTER):
    pass


class NoCapableRoute(ApiError, of=error_types.NO_CAPABLE_ROUTE):
    pass


class PricingUnavailable(ApiError, of=error_types.PRICING_UNAVAILABLE):
    pass


class StorageUnavailable(ApiError, of=error_types.STORAGE_UNAVAILABLE):
    default_message = "Asset storage is unavailable; try again later."


class QueueLimitExceeded(ApiError, of=error_types.QUEUE_LIMIT_EXCEEDED):
    pass


class TaskNotFound(ApiError, of=error_types.NOT_FOUND):
    default_message = "Task or asset not found."


class NotRedeliverable(ApiError, of=error_types.NOT_REDELIVERABLE):
    """The task has not ended, or has no callback_url."""


class RangeNotSatisfiable(ApiError, of=error_types.RANGE_NOT_SATISFIABLE):
    """The range begins behind the last byte, or asks for none."""


class UrlRefused(ApiError, of=error_types.ASSET_URL_INVALID):
    """A signed URL is wrong, whatever is wrong with it, and whether or not there is such an asset."""

    default_message = "This asset URL is not valid or has expired."


class RequestTooLarge(ApiError, of=error_types.REQUEST_TOO_LARGE):
    pass


class RateLimited(ApiError, of=error_types.RATE_LIMITED):
    pass


class StreamLimitExceeded(ApiError, of=error_types.STREAM_LIMIT_EXCEEDED):
    pass


class ApiPaused(ApiError, of=error_types.API_PAUSED):
    default_message = "Submissions are paused."


class ApiDisabled(ApiError, of=error_types.API_DISABLED):
    default_message = "The Task API is switched off."


class NotCancelable(ApiError, of=error_types.NOT_CANCELABLE):
    pass


class AssetInUse(ApiError, of=error_types.ASSET_IN_USE):
    default_message = "A task that has not ended takes one of these files as an input; delete them when it has."


class AssetExpired(ApiError, of=error_types.ASSET_EXPIRED):
    default_message = "The asset was deleted, by its owner or at the end of its retention."


class MethodNotAllowed(ApiError, of=error_types.METHOD_NOT_ALLOWED):
    pass


class UnsupportedMediaType(ApiError, of=error_types.UNSUPPORTED_MEDIA_TYPE):
    pass


class InternalError(ApiError, of=error_types.INTERNAL_ERROR):
    default_message = "Internal error."


class ServiceUnavailable(ApiError, of=error_types.SERVICE_UNAVAILABLE):
    """The database or another part we stand on is away."""

    default_message = "The service is temporarily unavailable."


class TaskTimeout(ApiError, of=error_types.TIMEOUT):
    """A call has waited for its task as long as it may; the task goes on."""

    default_message = "The task has not ended in time; it goes on."


class EndedWithout(ApiError):
    """A task that has ended without a result, where the answer to a call says so: with the task's own type."""

    def __init__(self, error_type: str, status: int, message: str) -> None:
        self.type, self.status = error_type, status
        super().__init__(message, may_have_cost=True)
