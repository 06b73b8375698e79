"""The pricing modes: what each counts, which tier has which price, what it refuses, and its words.

A mode is one object in TABLE. A mode that lacks a word or a method does not pass mypy, nor can it be made; a name that
no mode has raises UnknownMode, for a modality at import and for a price when it is looked up.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from adapters.base import Billed
from common import modalities
from common.modalities import Modality

ANY_TIER = "*"
Amount = TypeVar("Amount", int, Decimal)


class UnknownMode(LookupError):
    """A name that no pricing mode has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode(ABC):
    """How a price is counted. `noun` is one unit in the API, `page_noun` on the customer's pages, and `prices_help`
    tells an operator how prices are written. `measures_length` where a unit is a second. `tier_param` is the field of
    params whose values are the price tiers, of which a model must list at least one; None where tiers need no list."""

    name: str
    noun: str
    page_noun: str
    prices_help: str
    measures_length: bool
    tier_param: str | None

    @abstractmethod
    def units(self, *, files: int, seconds: float) -> float:
        """The units of a request for so many files of that length, or of a call that made them. Whole for whole
        seconds."""

    @abstractmethod
    def units_delivered(self, asked: int, *, files: int, seconds: float) -> float:
        """The units that are charged where `asked` units were reserved and so much was delivered."""

    @abstractmethod
    def tier(self, bought: str | None) -> str | None:
        """The price tier of a request that buys this tier of the provider; None where it has none."""

    @abstractmethod
    def price_at(self, prices: Mapping[str, Amount], tier: str) -> Amount | None:
        """The price of a tier; None where none is configured."""

    @abstractmethod
    def refusals(self, tiers: Collection[str]) -> list[tuple[str, str]]:
        """Why prices by these tiers cannot be stored: each with the tier at fault, empty for all of them."""

    @abstractmethod
    def bought(self, asked: int, tier: str) -> Billed | None:
        """What the frozen units and tier say that must be bought; None where they do not say."""

    @abstractmethod
    def is_still_bought(self, asked: int, tier: str, billed: Billed) -> bool:
        """Whether a request that would now buy `billed` may be sent at the frozen price."""

    def seconds(self, asked: int) -> int | None:
        """The length that the frozen units say was asked for; None where they count something else."""
        return asked if self.measures_length else None


class ImageMatrix(Mode):
    """A price for each image, by the tier of its size."""

    def units(self, *, files: int, seconds: float) -> float:
        return files

    def units_delivered(self, asked: int, *, files: int, seconds: float) -> float:
        return min(files, asked)

    def tier(self, bought: str | None) -> str | None:
        return bought

    def price_at(self, prices: Mapping[str, Amount], tier: str) -> Amount | None:
        return prices.get(tier)

    def refusals(self, tiers: Collection[str]) -> list[tuple[str, str]]:
        return [("", f'{self.name} prices each tier by its name; "*" is none')] if ANY_TIER in tiers else []

    def bought(self, asked: int, tier: str) -> Billed | None:
        return Billed(count=asked, tier=tier)

    def is_still_bought(self, asked: int, tier: str, billed: Billed) -> bool:
        return billed == self.bought(asked, tier)


class VideoDuration(Mode):
    """A price for each second of a video, by its resolution."""

    def units(self, *, files: int, seconds: float) -> float:
        return seconds

    def units_delivered(self, asked: int, *, files: int, seconds: float) -> float:
        return seconds

    def tier(self, bought: str | None) -> str | None:
        return bought

    def price_at(self, prices: Mapping[str, Amount], tier: str) -> Amount | None:
        return by_resolution(prices, tier)

    def refusals(self, tiers: Collection[str]) -> list[tuple[str, str]]:
        first: dict[str, str] = {}
        twins = [(tier, first[tier.lower()]) for tier in tiers if first.setdefault(tier.lower(), tier) != tier]
        return [(tier, f"is there twice: it is {twin}, as case does not count") for tier, twin in twins]

    def bought(self, asked: int, tier: str) -> Billed | None:
        return Billed(count=1, tier=tier)

    def is_still_bought(self, asked: int, tier: str, billed: Billed) -> bool:
        return True


class PerRequest(Mode):
    """One price for each request, whatever it makes."""

    def units(self, *, files: int, seconds: float) -> float:
        return 1

    def units_delivered(self, asked: int, *, files: int, seconds: float) -> float:
        return 1

    def tier(self, bought: str | None) -> str | None:
        return ANY_TIER

    def price_at(self, prices: Mapping[str, Amount], tier: str) -> Amount | None:
        return prices.get(ANY_TIER)

    def refusals(self, tiers: Collection[str]) -> list[tuple[str, str]]:
        return [("", f'{self.name} has one price, under "*"')] if set(tiers) - {ANY_TIER} else []

    def bought(self, asked: int, tier: str) -> Billed | None:
        return None

    def is_still_bought(self, asked: int, tier: str, billed: Billed) -> bool:
        return True


def by_resolution(amounts: Mapping[str, Amount], tier: str) -> Amount | None:
    """The amount of a tier in any case of its letters, since some providers sell 720P as 720p; else that under "*"."""
    if tier in amounts:
        return amounts[tier]
    spelled = {name.lower(): amount for name, amount in amounts.items()}
    return spelled.get(tier.lower(), amounts.get(ANY_TIER))


PER_REQUEST = PerRequest(
    name="per_request",
    noun="request",
    page_noun="request",
    prices_help='A price per request has one row, "*".',
    measures_length=False,
    tier_param=None,
)
TABLE: tuple[Mode, ...] = (
    ImageMatrix(
        name="image_matrix",
        noun="image",
        page_noun="picture",
        prices_help="USD by tier.",
        measures_length=False,
        tier_param="image_size",
    ),
    VideoDuration(
        name="video_duration",
        noun="second",
        page_noun="second",
        prices_help='Films: by resolution, "*" for all others.',
        measures_length=True,
        tier_param=None,
    ),
    PER_REQUEST,
)
BY_NAME = {mode.name: mode for mode in TABLE}


def find(name: object) -> Mode | None:
    """The mode of a stored name; None where this version has no such mode."""
    return BY_NAME.get(name) if isinstance(name, str) else None


def get(name: str) -> Mode:
    """The mode of a name. Raises UnknownMode."""
    if name not in BY_NAME:
        raise UnknownMode(f"no pricing mode is named {name}")
    return BY_NAME[name]


def noun(name: str) -> str:
    """One unit of a mode in the API's words; empty where this version has no such mode."""
    found = find(name)
    return found.noun if found else ""


def check(rows: Iterable[Modality]) -> None:
    """Raises UnknownMode for a modality that names a mode which is not in TABLE."""
    for modality in rows:
        for name in modality.pricing_modes:
            get(name)


check(modalities.TABLE)
