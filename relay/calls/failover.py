"""Decides after an upstream's error whether the call goes on to the next channel or how it ends for its client.
Pure."""

import re
from collections.abc import Sequence

from adapters.base import FAULTS, ErrorKind, Fault, UpstreamError
from catalog import relay_channels, tariffs
from catalog.models import Rest
from catalog.relay_channels import Resting
from common.errors import (
    ApiError,
    UpstreamBusy,
    UpstreamForbidden,
    UpstreamRefusal,
    UpstreamTimeout,
    UpstreamUnavailable,
    UpstreamUnknown,
)
from relay.calls import provider_words
from relay.calls.ending import Finish
from relay.families.refusals import RefusedByUpstream

# Certainly nothing was accepted, and another channel or credential may succeed.
GOES_ON = frozenset(
    {
        ErrorKind.TRANSIENT,
        ErrorKind.RATE_LIMITED,
        ErrorKind.OVERLOADED,
        ErrorKind.MODEL_UNAVAILABLE,
        ErrorKind.AUTH,
        ErrorKind.QUOTA_EXHAUSTED,
        ErrorKind.FORBIDDEN,
    }
)
UNEXPLAINED = frozenset({ErrorKind.FORBIDDEN, ErrorKind.MODEL_UNAVAILABLE})
CODE = re.compile("[a-z_]{1,64}")  # a word such as context_length_exceeded; secrets do not match
TOO_LARGE = 413
CUT = "The provider's stream broke off."


class CallFailed(Exception):
    """A call that ends without an answer: the error for its client, and its end for the books."""

    def __init__(self, error: ApiError, finish: Finish) -> None:
        super().__init__(error.message)
        self.error = error
        self.finish = finish


class LateRefusal(UpstreamError):
    """A refusal by the provider after part of the answer, which may be charged."""

    maybe_accepted = True


def after_partial_answer(error: UpstreamError) -> UpstreamError:
    """Returns an error that followed part of the answer, as one after which no other channel is tried."""
    if not _is_of_request(error):
        return error.as_kind(ErrorKind.AMBIGUOUS)
    return LateRefusal(error.kind, error.message, code=error.code, http_status=error.http_status)


def _is_of_request(error: UpstreamError) -> bool:
    """Tells whether the provider refused the request itself."""
    return FAULTS.get(error.kind) is Fault.REQUEST


def may_go_on(error: UpstreamError) -> bool:
    """Tells whether the call may be sent to another channel after this error."""
    return error.kind in GOES_ON


def end_without_answer(errors: Sequence[UpstreamError], resting: Sequence[Resting], *, model: str) -> CallFailed:
    """Ends a call after its attempts' errors, in order, when no channel is left. `resting` are the channels that were
    not tried; `model` is the name that the client sent."""
    if not errors:
        return CallFailed(relay_channels.none_ready(resting, model=model), Finish.REFUSED)
    if not may_go_on(errors[-1]):
        return end_with(errors[-1])
    waiting = [each for each in resting if each.cause != Rest.Cause.MODEL]
    if not waiting:
        kinds = {error.kind for error in errors} | {ErrorKind.MODEL_UNAVAILABLE for _ in resting}
        if kinds == {ErrorKind.MODEL_UNAVAILABLE}:
            return CallFailed(tariffs.not_found(model), Finish.REFUSED)
        if ErrorKind.FORBIDDEN in kinds <= UNEXPLAINED:
            return CallFailed(UpstreamForbidden(), Finish.REFUSED)
    return CallFailed(_unavailable(errors, waiting), Finish.REFUSED)


def _unavailable(errors: Sequence[UpstreamError], waiting: Sequence[Resting]) -> ApiError:
    """Makes a retryable error; after a rate limit the client is told to wait."""
    asked = [error.retry_after for error in errors if error.retry_after is not None]
    headers = relay_channels.retry_after([*asked, *(each.seconds for each in waiting)])
    is_limited = any(error.kind is ErrorKind.RATE_LIMITED for error in errors)
    return UpstreamBusy(headers=headers) if is_limited else UpstreamUnavailable(headers=headers)


def end_with(error: UpstreamError) -> CallFailed:
    """Ends a call with an error after which no other channel is tried."""
    if _is_of_request(error):
        return CallFailed(_refusal(error), Finish.UNKNOWN if error.maybe_accepted else Finish.REFUSED)
    return CallFailed(UpstreamTimeout() if error.code == "time" else UpstreamUnknown(), Finish.UNKNOWN)


def explain_broken_stream(error: UpstreamError) -> ApiError:
    """Returns the error for the last frame of a stream that broke off, with or without an error of its own."""
    if _is_of_request(error):
        return _refusal(error)
    if error.kind is ErrorKind.RATE_LIMITED:
        return UpstreamBusy()
    return UpstreamUnavailable() if error.kind is ErrorKind.OVERLOADED else UpstreamUnknown(CUT)


def _refusal(error: UpstreamError) -> UpstreamRefusal:
    """Passes on the provider's own words, which the client needs to fix its request."""
    message = provider_words.clean(error.message) or "The provider refuses this request."
    error_type = "request_too_large" if error.http_status == TOO_LARGE else "invalid_request_error"
    param = error.param if isinstance(error, RefusedByUpstream) else None
    code = error.code if CODE.fullmatch(error.code) else ""
    return UpstreamRefusal(message, status=400, error_type=error_type, param=param, code=code)
