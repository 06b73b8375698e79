"""What comes of a relayed call in the books: pure. Charged by what was seen, by an estimate, or released."""

from dataclasses import dataclass
from enum import StrEnum

from catalog.tariffs import Tariff
from common.token_usage import TokenUsage
from relay.calls import reservation
from relay.families.base import AskedCall, Delivered

NOTHING_DELIVERED = Delivered()


class Finish(StrEnum):
    """How a call ended. Kept on its row."""

    DONE = "succeeded"  # a proper end, or a whole answer
    LEFT = "left"  # the client left before it
    CUT = "cut"  # the stream broke off: upstream, or because this process stops
    REFUSED = "refused"  # surely nothing was bought
    UNKNOWN = "unknown"  # nobody knows whether anything was


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a call has come. `was_sent`: its request may have reached an upstream that did not refuse it;
    `usage` is the latest that was seen, `delivered` what came so far."""

    was_sent: bool = False
    usage: TokenUsage | None = None
    delivered: Delivered = NOTHING_DELIVERED


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettlement:
    """Of the books: `actual_micros` are charged, None releases the hold. `is_loss`: the provider may bill for it all
    the same."""

    actual_micros: int | None = None
    usage: TokenUsage | None = None
    is_estimated: bool = False
    is_loss: bool = False


NOTHING = CallSettlement()
LOSS = CallSettlement(is_loss=True)


def settlement(
    finish: Finish, progress: Progress, asked: AskedCall, tariff: Tariff, *, reserved: int
) -> CallSettlement:
    """What an ended call is charged, in micro-USD. `reserved` are those that were held for it."""
    usage = progress.usage if progress.usage and tariff.is_told_by(progress.usage) else None
    match finish:
        case Finish.REFUSED:
            return NOTHING
        case Finish.UNKNOWN:
            return LOSS
        case Finish.CUT:
            return LOSS if usage is None else _by_usage(usage, tariff)
        case Finish.DONE if usage is not None:
            return _by_usage(usage, tariff)
        case Finish.LEFT if not progress.was_sent:
            return NOTHING
        case Finish.LEFT if tariff.picture is not None and not (usage and usage.images):
            return LOSS
    return _by_estimate(progress, asked, tariff, reserved)


def _by_usage(usage: TokenUsage, tariff: Tariff) -> CallSettlement:
    return CallSettlement(actual_micros=tariff.cost_micros(usage), usage=usage)


def _by_estimate(progress: Progress, asked: AskedCall, tariff: Tariff, reserved: int) -> CallSettlement:
    """Never above the reserve, unless what was seen costs more."""
    likely = reservation.estimate(asked, progress.usage, progress.delivered)
    known = tariff.cost_micros(progress.usage) if progress.usage else 0
    cost = max(known, min(tariff.cost_micros(likely), reserved))
    return CallSettlement(actual_micros=cost, usage=likely, is_estimated=True)
