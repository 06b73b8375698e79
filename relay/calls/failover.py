"""What to do after an upstream's error: go on to the next channel, or end the call with what its client reads. Pure."""

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

# Surely nothing was accepted, and another channel, or credential, may do better.
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
CODE = re.compile("[a-z_]{1,64}")  # a word such as context_length_exceeded; no secret is one
TOO_LARGE = 413
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
    if not _is_of_request(error):
        return error.as_kind(ErrorKind.AMBIGUOUS)
    return LateRefusal(error.kind, error.message, code=error.code, http_status=error.http_status)


def _is_of_request(error: UpstreamError) -> bool:
    """Whether the provider has said no to the request itself."""
    return FAULTS.get(error.kind) is Fault.REQUEST


def may_go_on(error: UpstreamError) -> bool:
    """Whether the call may be sent to another channel after this."""
    return error.kind in GOES_ON


def failed(errors: Sequence[UpstreamError], resting: Sequence[Resting], *, model: str) -> CallFailed:
    """How a call ends after these errors of its attempts, in order, where nothing is left to try. `resting` are the
    channels that were not tried. `model` is the name that the client sent."""
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
    """After rate limits it is the caller's to wait."""
    asked = [error.retry_after for error in errors if error.retry_after is not None]
    headers = relay_channels.retry_after([*asked, *(each.seconds for each in waiting)])
    is_limited = any(error.kind is ErrorKind.RATE_LIMITED for error in errors)
    return UpstreamBusy(headers=headers) if is_limited else UpstreamUnavailable(headers=headers)


def end_with(error: UpstreamError) -> CallFailed:
    """How a call ends with an error after which it goes nowhere else."""
    if _is_of_request(error):
        return CallFailed(_refusal(error), Finish.UNKNOWN if error.maybe_accepted else Finish.REFUSED)
    return CallFailed(UpstreamTimeout() if error.code == "time" else UpstreamUnknown(), Finish.UNKNOWN)


def explain_broken_stream(error: UpstreamError) -> ApiError:
    """What the last frame of a stream says that broke off: with an error of its own, or with none."""
    if _is_of_request(error):
        return _refusal(error)
    if error.kind is ErrorKind.RATE_LIMITED:
        return UpstreamBusy()
    return UpstreamUnavailable() if error.kind is ErrorKind.OVERLOADED else UpstreamUnknown(CUT)


def _refusal(error: UpstreamError) -> UpstreamRefusal:
    """In the provider's words: they are what the client needs."""
    message = provider_words.shown(error.message) or "The provider refuses this request."
    error_type = "request_too_large" if error.http_status == TOO_LARGE else "invalid_request_error"
    param = error.param if isinstance(error, RefusedByUpstream) else None
    code = error.code if CODE.fullmatch(error.code) else ""
    return UpstreamRefusal(message, status=400, error_type=error_type, param=param, code=code)
