"""The dearer of prices that may all hold for a model: where names or patterns differ by case only."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from catalog.picture_prices import PicturePrice
from catalog.token_prices import AMOUNTS, COUNTS, LongContext, TokenPrice


def of_tokens(prices: Sequence[TokenPrice]) -> TokenPrice | None:
    """Each amount and each count the highest, at every length of input. Sold is only what all sell, and a count that
    one does not know is unknown. None where there are no prices."""
    return reduce(_dearer, prices) if prices else None


def of_pictures(prices: Sequence[PicturePrice]) -> PicturePrice | None:
    """One that costs what the dearest of them does, picture by picture, and refuses what any refuses. None where there
    are no prices."""
    return replace(prices[0], others=tuple(prices[1:])) if prices else None


def _dearer(one: TokenPrice, other: TokenPrice) -> TokenPrice:
    found = _higher(one, other)
    longs = [long for price in (one, other) if (long := price.long_context) is not None]
    if not longs:
        return found
    price = _higher(*((each.long_context.price if each.long_context else each) for each in (one, other)))
    return replace(found, long_context=LongContext(above=min(long.above for long in longs), price=price))


def _higher(one: TokenPrice, other: TokenPrice) -> TokenPrice:
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in (*AMOUNTS, *COUNTS)}
    highest: dict[str, Any] = {name: None if None in pair else max(pair) for name, pair in pairs.items()}
    highest["is_cache_priced"] = one.is_cache_priced and other.is_cache_priced
    return replace(one, pattern=f"{one.pattern} and {other.pattern}", long_context=None, **highest)
