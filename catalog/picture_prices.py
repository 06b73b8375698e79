"""What one picture costs: one price, or tiers by its size and quality."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from common.errors import InvalidRequest

ANY = "*"
AUTO = ("", "auto")
LARGEST_SIDE = 1536
"""Of a picture, in pixels, whose size no tier lists or covers."""
SIZE = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})")

Tier = Mapping[str, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturePrice:
    """USD for one picture: by size as WIDTHxHEIGHT, or `*` for any, and there by quality, or `*` for one price of all.
    `others` hold beside it: of each picture the dearer."""

    tiers: Mapping[str, Tier]
    others: tuple["PicturePrice", ...] = ()

    def held(self, size: str, quality: str, *, opened: Collection[str] = ()) -> Decimal:
        """The most that a picture can cost of which the request says this size and quality. `opened` are names of
        fields that pass though they have no price. Raises InvalidRequest."""
        tiers = self._all if size in AUTO else self._of_size(size)
        if not tiers and "size" not in opened:
            raise InvalidRequest(self._sizes(), param="size")
        tiers = tiers or self._open
        is_known = _has(tiers, quality)
        if not is_known and quality not in AUTO and "quality" not in opened:
            raise InvalidRequest(_qualities(tiers), param="quality")
        beside = [other.held(size, quality, opened=opened) for other in self.others]
        return max([_dearest(tiers, quality if is_known else ""), *beside])

    def charged(self, told: tuple[str, str], asked: tuple[str, str]) -> Decimal:
        """What a picture costs by the size and quality that its answer tells, where they are tiers, else as asked."""
        sizes, qualities = zip(told, asked, strict=True)
        tiers = next(filter(None, map(self._of_size, sizes)), self._all)
        known = (quality for quality in qualities if _has(tiers, quality))
        beside = [other.charged(told, asked) for other in self.others]
        return max([_dearest(tiers, next(known, "")), *beside])

    def document(self) -> Any:
        """JSON, as it is stored: one amount, or the tiers; a list of them where others hold beside it."""
        if self.others:
            return [replace(self, others=()).document(), *(other.document() for other in self.others)]
        told = {size: _told(tier) for size, tier in self.tiers.items()}
        return told[ANY] if told.keys() == {ANY} and isinstance(told[ANY], str) else told

    @property
    def _all(self) -> Sequence[Tier]:
        return list(self.tiers.values())

    @property
    def _open(self) -> Sequence[Tier]:
        return [self.tiers[ANY]] if ANY in self.tiers else self._all

    def _of_size(self, size: str) -> Sequence[Tier]:
        """The tiers of a size: its own, else those of the fewest pixels that cover it, else that of any size; none
        where it has none."""
        sides = _sides(size)
        if sides is None:
            return []
        if size in self.tiers:
            return [self.tiers[size]]
        covering = {each: _pixels(each) for each in self.tiers if _pixels(each) >= sides[0] * sides[1]}
        if covering:
            fewest = min(covering.values())
            return [self.tiers[each] for each, pixels in covering.items() if pixels == fewest]
        return [self.tiers[ANY]] if ANY in self.tiers and max(sides) <= LARGEST_SIDE else []

    def _sizes(self) -> str:
        listed = ", ".join(size for size in self.tiers if size != ANY)
        most = f"of at most {LARGEST_SIDE} pixels a side" if ANY in self.tiers else ""
        known = " or ".join(filter(None, (listed and f"covered by {listed}", most)))
        return f"size: must be auto, or as WIDTHxHEIGHT {known}: others have no price."


def of_row(stored: Any) -> PicturePrice:
    """The price as an offer's row has it: one amount, or a mapping of sizes to one or to a mapping of qualities. In the
    order of pixels and amounts, as a database keeps none."""
    sizes = stored if isinstance(stored, Mapping) else {ANY: stored}
    tiers = {size: tier if isinstance(tier, Mapping) else {ANY: tier} for size, tier in sizes.items()}
    in_order = sorted(tiers, key=lambda size: (size == ANY, _pixels(size), size))
    return PicturePrice(tiers={size: _tier(tiers[size]) for size in in_order})


def _tier(stored: Mapping[str, Any]) -> Tier:
    priced = {quality: Decimal(str(usd)) for quality, usd in stored.items()}
    return dict(sorted(priced.items(), key=lambda item: (item[1], item[0])))


def _told(tier: Tier) -> Any:
    told = {quality: format(usd, "f") for quality, usd in tier.items()}
    return told[ANY] if told.keys() == {ANY} else told


def _has(tiers: Iterable[Tier], quality: str) -> bool:
    return quality != ANY and any(quality in tier for tier in tiers)


def _dearest(tiers: Iterable[Tier], quality: str = "") -> Decimal:
    """Of a quality, where one is given; a tier that has one price for all has it for this one, too."""
    wanted = {quality, ANY}
    return max(usd for tier in tiers for name, usd in tier.items() if not quality or name in wanted)


def _qualities(tiers: Iterable[Tier]) -> str:
    known = list(dict.fromkeys(name for tier in tiers for name in tier if name != ANY))
    return f"quality: must be {', '.join([*known, 'auto'])}: others have no price."


def _sides(size: str) -> tuple[int, int] | None:
    found = SIZE.fullmatch(size)
    return (int(found[1]), int(found[2])) if found else None


def _pixels(size: str) -> int:
    """None of any size."""
    sides = _sides(size)
    return sides[0] * sides[1] if sides else 0
