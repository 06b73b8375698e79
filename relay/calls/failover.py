"""What to do after an upstream's error: go on to the next channel, or end the call with what its client reads. Pure."""

import math
import re
from collections.abc import Sequence

from adapters.base import ErrorKind, UpstreamError
from catalog import tariffs
from common import redaction
from common.errors import (
    ApiError,
    UpstreamBusy,
    UpstreamRefusal,
    UpstreamTimeout,
    UpstreamUnavailable,
    UpstreamUnknown,
)
from common.http.dialects import LONGEST_RETRY_SECONDS
from relay.calls.ending import Finish
from relay.families.refusals import RefusedByUpstream

# Surely nothing was accepted, and another channel, or credential, may do better.
GOES_ON = frozenset(
    {
        ErrorKind.TRANSIENT,
        ErrorKind.RATE_LIMITED,
        ErrorKind.OVERLOADED,
        ErrorKind.AUTH,
        ErrorKind.QUOTA_EXHAUSTED,
    }
)
# The provider has said no to the request itself.
CODE = re.compile("[a-z_]{1,64}")  # a word such as context_length_exceeded; no secret is one
OF_REQUEST = frozenset({ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY, ErrorKind.ASSET_UNREACHABLE})
SHOWN_STATUSES = frozenset({400, 413, 422})
LONGEST_MESSAGE = 1_000
NOT_IMPLEMENTED = 501
CUT = "The provider's stream broke off."


class CallFailed(Exception):
    """A call that ends without an answer: what its client reads, and what the books are told."""

    def __init__(self, error: ApiError, finish: Finish) -> None:
        super().__init__(error.message)
        self.error = error
        self.finish = finish


class LateRefusal(UpstreamError):
    """The provider says no to the request after a part of the answer, which it may charge."""

    maybe_accepted = True


def behind_a_part(error: UpstreamError) -> UpstreamError:
    """What an error stands for that comes after a part of the answer: the call goes nowhere else."""
    if error.kind not in OF_REQUEST:
        return error.as_kind(ErrorKind.AMBIGUOUS)
    return LateRefusal(error.kind, error.message, code=error.code, http_status=error.http_status)


def may_go_on(error: UpstreamError) -> bool:
    """Whether the call may be sent to another channel after this."""
    return not error.maybe_accepted and (
        error.kind in GOES_ON or (error.kind is ErrorKind.INVALID_REQUEST and error.model_specific)
    )


def failed(errors: Sequence[UpstreamError], resting_seconds: float | None, *, model: str) -> CallFailed:
    """How a call ends after these errors of its attempts, in order, where nothing is left to try. `resting_seconds`:
    until the soonest channel that rests may be asked again. `model` is the name that the client sent."""
    if errors and not may_go_on(errors[-1]):
        return of_last(errors[-1])
    if errors and resting_seconds is None and all(map(_is_unknown_model, errors)):
        return CallFailed(tariffs.not_found(model), Finish.REFUSED)
    limited = [error for error in errors if error.kind is ErrorKind.RATE_LIMITED]
    asked = [error.retry_after for error in errors if error.retry_after is not None]
    waits = [*asked, *([] if resting_seconds is None else [resting_seconds])]
    headers = {"Retry-After": _whole_seconds(min(waits))} if waits else {}
    is_busy = bool(limited) or (not errors and resting_seconds is not None)
    error = UpstreamBusy(headers=headers) if is_busy else UpstreamUnavailable(headers=headers)
    return CallFailed(error, Finish.REFUSED)


def _is_unknown_model(error: UpstreamError) -> bool:
    return error.model_specific and error.http_status != NOT_IMPLEMENTED


def of_last(error: UpstreamError) -> CallFailed:
    """How a call ends with an error after which it goes nowhere else."""
    if error.kind in OF_REQUEST:
        return CallFailed(_refusal(error), Finish.UNKNOWN if error.maybe_accepted else Finish.REFUSED)
    return CallFailed(UpstreamTimeout() if error.code == "time" else UpstreamUnknown(), Finish.UNKNOWN)


def of_stream(error: UpstreamError) -> ApiError:
    """What the last frame of a stream says that broke off: with an error of its own, or with none."""
    if error.kind in OF_REQUEST:
        return _refusal(error)
    if error.kind is ErrorKind.RATE_LIMITED:
        return UpstreamBusy()
    return UpstreamUnavailable() if error.kind is ErrorKind.OVERLOADED else UpstreamUnknown(CUT)


def _refusal(error: UpstreamError) -> UpstreamRefusal:
    """In the provider's words, without what looks like a secret."""
    message = redaction.clean(error.message)[:LONGEST_MESSAGE] or "The provider refuses this request."
    status = error.http_status if error.http_status in SHOWN_STATUSES else 400
    error_type = "request_too_large" if status == 413 else "invalid_request_error"
    param = error.param if isinstance(error, RefusedByUpstream) else None
    code = error.code if CODE.fullmatch(error.code) else ""
    return UpstreamRefusal(message, status=status, error_type=error_type, param=param, code=code)


def _whole_seconds(wait: float) -> str:
    return str(min(max(math.ceil(wait), 1), LONGEST_RETRY_SECONDS))
