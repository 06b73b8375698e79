"""Step 6: computes what a request will cost and what its result costs. Pure; integer micro-USD."""

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from adapters.base import Billed
from billing import modes
from billing.modes import Mode
from common import documents
from common.documents import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of one task, frozen at submission: the unit price of its tier and how many units were asked for.

    `quantity` is in units of the pricing mode that `mode` names; `results` how many pictures or films were bought, and
    None in the price of an older version. `estimate_micros` follows from both, and is not stored.
    """

    mode: str
    tier: str
    unit_micros: int
    quantity: int
    results: int | None = None
    estimate_micros: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimate_micros", self.unit_micros * self.quantity)

    @classmethod
    def asked(cls, mode: Mode, *, tier: str, unit_micros: int, billed: Billed, seconds: int | None) -> "Price":
        """The price of a request that buys so many files, of this length where they have one."""
        quantity = int(mode.units(files=billed.count, seconds=seconds or 0))
        return cls(mode=mode.name, tier=tier, unit_micros=unit_micros, quantity=quantity, results=billed.count)

    @property
    def pricing_mode(self) -> Mode:
        """Raises UnknownMode."""
        return modes.get(self.mode)

    @property
    def bought(self) -> Billed | None:
        """What a route must buy at this price; None where the price is of the request, whatever it buys."""
        return self.pricing_mode.bought(self.quantity, self.tier)

    @property
    def seconds(self) -> int | None:
        """The length that was asked for; None where the price does not tell it."""
        return self.pricing_mode.seconds(self.quantity)

    def is_still_bought(self, billed: Billed) -> bool:
        """Whether a request that would now buy this may be sent at this price."""
        return self.pricing_mode.is_still_bought(self.quantity, self.tier, billed)

    def snapshot(self) -> dict[str, Any]:
        return {
            "mode": self.mode,
            "tier": self.tier,
            "unit_micros": self.unit_micros,
            "quantity": self.quantity,
            "results": self.results,
        }

    @classmethod
    def frozen(cls, snapshot: object) -> "Price":
        """The inverse, also of another version's. Raises Unreadable."""
        price = documents.read(cls, snapshot)
        if price.mode not in modes.BY_NAME:
            raise Unreadable("Price: mode is unknown to this version")
        return price


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a result costs. `seconds` is the billed length of a video, else 0."""

    actual_micros: int
    seconds: float | int


def settle(price: Price, *, delivered: int, asked_seconds: int | None, reported_seconds: float | None) -> Settlement:
    """The cost of `delivered` files, by the frozen price and the units of its mode (contract section 6).

    The length of a video is the one that the provider reports, if it is above 0 and at most twice the asked one, else
    the asked one. Raises UnknownMode.
    """
    seconds = _billed_seconds(asked_seconds, reported_seconds)
    units = price.pricing_mode.units_delivered(price.quantity, files=delivered, seconds=seconds)
    actual = int((price.unit_micros * Decimal(str(units))).quantize(Decimal(1), rounding=ROUND_HALF_UP))
    return Settlement(actual_micros=actual, seconds=seconds)


def _billed_seconds(asked: int | None, reported: float | None) -> float | int:
    if asked is None:
        return 0
    if reported is None or not 0 < reported <= 2 * asked:
        return asked
    return int(reported) if reported == int(reported) else reported
