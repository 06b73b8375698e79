"""Settles an ended call: charges its reported usage or an estimate, or releases the hold; never charges more than was
held. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from catalog.tariffs import Tariff
from common.token_usage import TokenUsage
from relay.calls import reservation
from relay.families import bounds
from relay.families.base import AskedCall, Delivered

NOTHING_DELIVERED = Delivered()
EXCEEDS_HOLD = "usage_exceeds_hold"
COMPLETED = "usage_completed"


class Finish(StrEnum):
    """The way a call ended, as stored on its row."""

    DONE = "succeeded"  # a complete stream or answer
    LEFT = "left"  # the client left before the call was sent
    CUT = "cut"  # the stream broke off, upstream or because this process stopped
    REFUSED = "refused"  # certainly nothing was bought
    UNKNOWN = "unknown"  # something may have been bought


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """State of a call.

    `was_sent`: an upstream that did not refuse the request may have received it. `is_complete`: the upstream's answer
    was read to its end. `was_held_up`: the stream waited so long for its client that the upstream may have given up.
    `usage` is the latest that was reported, `delivered` what has arrived.
    """

    was_sent: bool = False
    is_complete: bool = False
    was_held_up: bool = False
    usage: TokenUsage | None = None
    delivered: Delivered = NOTHING_DELIVERED


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettlement:
    """Amounts to book: `actual_micros` are charged, None releases the hold. `is_loss`: the provider may bill the call
    although the customer is not charged. `flags` are for the operator; `overrun_micros` is the part of the cost beyond
    the hold."""

    actual_micros: int | None = None
    usage: TokenUsage | None = None
    is_estimated: bool = False
    is_loss: bool = False
    flags: Mapping[str, Any] = field(default_factory=dict)
    overrun_micros: int = 0


NOTHING = CallSettlement()
LOSS = CallSettlement(is_loss=True)


def settle(finish: Finish, progress: Progress, asked: AskedCall, tariff: Tariff, *, reserved: int) -> CallSettlement:
    """Computes the charge for an ended call in micro-USD; `reserved` is its hold."""
    told = progress.usage if progress.usage and tariff.is_told_by(progress.usage) else None
    match finish:
        case Finish.REFUSED:
            return NOTHING
        case Finish.UNKNOWN:
            return LOSS
        case Finish.CUT if told is None and not progress.was_held_up:
            return LOSS
        case Finish.LEFT if not progress.was_sent:
            return NOTHING
    if told is not None and (progress.is_complete or (finish is Finish.CUT and not progress.was_held_up)):
        return _by_usage(told, progress.delivered, asked, tariff, reserved)
    if tariff.picture is not None and not progress.is_complete and not _pictures(progress):
        return LOSS
    return _by_estimate(progress, asked, tariff, reserved)


def _pictures(progress: Progress) -> int:
    return progress.usage.images if progress.usage else progress.delivered.pictures


def _by_usage(
    usage: TokenUsage, delivered: Delivered, asked: AskedCall, tariff: Tariff, reserved: int
) -> CallSettlement:
    likely, parts = (usage, []) if tariff.picture is not None else _completed(usage, delivered, asked)
    cost = tariff.cost_micros(likely)
    return _bounded(cost, likely, reserved, {COMPLETED: parts} if parts else {})


def _completed(usage: TokenUsage, delivered: Delivered, asked: AskedCall) -> tuple[TokenUsage, list[str]]:
    """Returns the usage with estimates for parts reported as 0 that were delivered, and the names of these parts."""
    parts = []
    if not usage.input_tokens:
        usage, parts = replace(usage, input_tokens=asked.input_estimate), ["input"]
    if not usage.output_tokens and (guess := reservation.estimate(asked, None, delivered)).output_tokens:
        usage = replace(
            usage,
            output_tokens=guess.output_tokens,
            image_tokens=guess.image_tokens,
            audio_output_tokens=guess.audio_output_tokens,
        )
        parts = [*parts, "output"]
    elif delivered.sound_bytes and not usage.audio_output_tokens and (untold := _untold(usage, delivered)):
        usage, parts = replace(usage, audio_output_tokens=untold), [*parts, "sound"]
    elif delivered.pictures and not usage.image_tokens and (untold := _untold(usage, delivered)):
        usage, parts = replace(usage, image_tokens=untold), [*parts, "pictures"]
    return usage, parts


def _untold(usage: TokenUsage, delivered: Delivered) -> int:
    """Returns the output tokens that are neither text nor reported separately."""
    counted = usage.reasoning_tokens + usage.image_tokens + usage.audio_output_tokens
    return max(0, usage.output_tokens - counted - bounds.likely(delivered.output_bytes))


def _bounded(cost: int, usage: TokenUsage, reserved: int, flags: Mapping[str, Any]) -> CallSettlement:
    """Returns the charge for reported usage; the operator bears any cost beyond the hold, and is told by a flag."""
    overrun = max(0, cost - reserved)
    return CallSettlement(
        actual_micros=cost - overrun,
        usage=usage,
        is_estimated=bool(flags),
        flags={**flags, EXCEEDS_HOLD: overrun} if overrun else flags,
        overrun_micros=overrun,
    )


def _by_estimate(progress: Progress, asked: AskedCall, tariff: Tariff, reserved: int) -> CallSettlement:
    likely = reservation.estimate(asked, progress.usage, progress.delivered)
    return replace(_bounded(tariff.cost_micros(likely), likely, reserved, {}), is_estimated=True)
