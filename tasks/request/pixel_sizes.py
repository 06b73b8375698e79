"""`size` of an image request in OpenAI's words, as the tier and the ratio that a model offers. Pure.

What is asked for is met as it is where a route's table lists it; else by the smallest tier that has as many pixels, in
a ratio that is the same to the eye. A size is never dropped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adapters.kit.sizes import DEFAULT_RATIO, SizeTable, largest, sides
from tasks.request.fields import refuse

AUTO = "auto"
NEAR = Fraction(2, 100)  # of the ratio that is asked for
MOST_NAMED = 6
RATIO = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,4})?):([0-9]{1,5}(?:\.[0-9]{1,4})?)")
NAMED_TIER = re.compile(r"([0-9]{1,2}(?:\.[0-9])?)K")
# Where no table tells, a tier of `x` K is a square of 1,024 x. Providers round the sides of its other ratios up, by up
# to a twentieth of the pixels.
KILO = 1024
ROUNDED_UP = Fraction(105, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedSizes:
    """The tiers and ratios of a model, empty where it offers none, and the size tables of its routes, best first."""

    tiers: Sequence[str]
    ratios: Sequence[str]
    tables: Sequence[SizeTable]

    def listed(self) -> Iterator[tuple[str, str | None, str | None]]:
        """(size, tier, ratio) of all that can be asked for and has a size in a table. A model without tiers makes the
        first of the table, and one without ratios the protocol's default."""
        if not self.tiers and not self.ratios:
            return
        for table in self.tables:
            for tier in self.tiers or list(table)[:1]:
                row = table.get(tier, {})
                for ratio in self.ratios or [DEFAULT_RATIO]:
                    if ratio in row:
                        yield row[ratio], tier if self.tiers else None, ratio if self.ratios else None

    def area(self, tier: str) -> Fraction:
        """The most pixels that a tier has, 0 where nobody knows."""
        known = max((largest(table[tier]) for table in self.tables if tier in table), default=0)
        named = NAMED_TIER.fullmatch(tier)
        if known or not named:
            return Fraction(known)
        return (Fraction(named[1]) * KILO) ** 2 * ROUNDED_UP

    def covering(self, pixels: int) -> str | None:
        """The smallest tier that has so many pixels."""
        return min((tier for tier in self.tiers if self.area(tier) >= pixels), key=self.area, default=None)


def tier_and_ratio(
    size: object, offered: Mapping[str, Any], tables: Sequence[SizeTable]
) -> tuple[str | None, str | None]:
    """(image_size, aspect_ratio); None for what is left to the model's default.

    `offered` are the model's bounds, `tables` are the size tables of its routes, best first
    (`catalog.pixel_sizes`). Raises InvalidRequest, which names `size` and what would be taken.
    """
    if size is None or size == AUTO:
        return None, None
    sizes = OfferedSizes(tiers=_values(offered, "image_size"), ratios=_values(offered, "aspect_ratio"), tables=tables)
    if isinstance(size, str) and size in sizes.tiers:
        return size, None
    for known, tier, ratio in sizes.listed():
        if known == size:
            return tier, ratio
    if found := _met(size, sizes):
        return found
    refuse("size", _wanted(sizes))


def nearest(width: int, height: int, ratios: Iterable[str]) -> str | None:
    """The ratio that differs least from that of the sides, and by 2 % of it at most."""
    asked = Fraction(width, height)
    distances = {text: abs(value - asked) for text in ratios if (value := _ratio(text)) is not None}
    near = [text for text, distance in distances.items() if distance <= NEAR * asked]
    return min(near, key=distances.__getitem__, default=None)


def _met(size: object, sizes: OfferedSizes) -> tuple[str, str | None] | None:
    """Of a size that no table lists; None where a tier and a ratio cannot express it."""
    pair = sides(size)
    if pair is None:
        return None
    width, height = pair
    tier, ratio = sizes.covering(width * height), nearest(width, height, sizes.ratios or [DEFAULT_RATIO])
    if tier is None or ratio is None:
        return None
    return tier, ratio if sizes.ratios else None


def _values(offered: Mapping[str, Any], name: str) -> Sequence[str]:
    values: Sequence[str] = (offered.get(name) or {}).get("values") or ()
    return values


def _ratio(text: str) -> Fraction | None:
    match = RATIO.fullmatch(text)
    width, height = (Fraction(match[1]), Fraction(match[2])) if match else (Fraction(0), Fraction(0))
    return width / height if width and height else None


def _wanted(sizes: OfferedSizes) -> str:
    examples = list(dict.fromkeys(_examples(sizes)))[:MOST_NAMED]
    named = ", ".join([AUTO, *sizes.tiers])
    if not examples:
        return f"must be one of {named}" if sizes.tiers else "is not supported by this model; leave it out or send auto"
    return f"must be one of {named}, or a size that this model can make, such as {', '.join(examples)}"


def _examples(sizes: OfferedSizes) -> Iterator[str]:
    """What the tables list, first of each ratio; of tiers that no table knows their squares."""
    order = {ratio: index for index, ratio in enumerate((None, *sizes.ratios))}
    yield from (size for size, _, _ in sorted(sizes.listed(), key=lambda item: order[item[2]]))
    if DEFAULT_RATIO in (sizes.ratios or [DEFAULT_RATIO]):
        for tier in sizes.tiers:
            if (named := NAMED_TIER.fullmatch(tier)) and not any(tier in table for table in sizes.tables):
                side = int(Fraction(named[1]) * KILO)
                yield f"{side}x{side}"
