"""Step 5: computes what a request will cost and what its result costs. Pure; integer micro-USD."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from common import documents, modalities
from common.documents import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of one task, frozen at submission: the unit price of its tier and how many units were asked for.

    `quantity` is images, seconds or 1, by `mode`; `results` how many pictures or films were bought, and None in the
    price of an older version.
    """

    mode: str
    tier: str
    unit_micros: int
    quantity: int
    results: int | None = None

    @property
    def estimate_micros(self) -> int:
        return self.unit_micros * self.quantity

    def snapshot(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def frozen(cls, snapshot: object) -> "Price":
        """The inverse, also of another version's. Raises Unreadable."""
        price = documents.read(cls, snapshot)
        if price.mode not in modalities.UNITS:
            raise Unreadable("Price: mode is unknown to this version")
        return price


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a result costs. `seconds` is the billed length of a video, else 0."""

    actual_micros: int
    seconds: float | int


def settle(price: Price, *, delivered: int, asked_seconds: int | None, reported_seconds: float | None) -> Settlement:
    """The cost of `delivered` files, by the frozen price (contract section 6).

    Images: as many as were delivered, at most what was asked. Videos: the provider's reported length if it is above 0
    and at most twice the asked one, else the asked one. Per request: the one price.
    """
    seconds = _billed_seconds(asked_seconds, reported_seconds)
    if price.mode == "image_matrix":
        units: Decimal | int = min(delivered, price.quantity)
    elif price.mode == "video_duration":
        units = Decimal(str(seconds))
    else:
        units = 1
    actual = int((price.unit_micros * Decimal(units)).quantize(Decimal(1), rounding=ROUND_HALF_UP))
    return Settlement(actual_micros=actual, seconds=seconds)


def _billed_seconds(asked: int | None, reported: float | None) -> float | int:
    if asked is None:
        return 0
    if reported is None or not 0 < reported <= 2 * asked:
        return asked
    return int(reported) if reported == int(reported) else reported
