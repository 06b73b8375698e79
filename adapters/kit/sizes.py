"""Pixel sizes of image tiers: what a tier and a ratio mean upstream, and what tier an upstream size is billed as."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

SizeTable = Mapping[str, Mapping[str, str]]
"""{tier: {ratio: "WIDTHxHEIGHT"}}"""

SIZE = re.compile(r"([1-9][0-9]{0,4})x([1-9][0-9]{0,4})")
RATIO = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{1,2})?:[1-9][0-9]{0,2}(?:\.[0-9]{1,2})?")
TIER = re.compile(r"(?:0\.[1-9]|[1-9][0-9]?(?:\.[0-9])?)K")
LONGEST = len("99999x99999")
DEFAULT_RATIO = "1:1"


def with_portraits(landscapes: SizeTable) -> SizeTable:
    """The table with the turned twin of every ratio."""
    return {
        tier: {**row, **{turned(ratio, ":"): turned(size, "x") for ratio, size in row.items()}}
        for tier, row in landscapes.items()
    }


def turned(pair: str, separator: str) -> str:
    first, second = pair.split(separator)
    return f"{second}{separator}{first}"


def pixels(size: object) -> int | None:
    """The area of a "WIDTHxHEIGHT"; None for `auto` and whatever else is no such text."""
    return _area(size) if isinstance(size, str) and len(size) <= LONGEST else None


def sides(size: object) -> tuple[int, int] | None:
    """Width and height of a "WIDTHxHEIGHT"; None for whatever else."""
    match = SIZE.fullmatch(size) if isinstance(size, str) and len(size) <= LONGEST else None
    return (int(match[1]), int(match[2])) if match else None


@lru_cache(maxsize=1_000)  # the sizes of every table are asked for at every submission
def _area(size: str) -> int | None:
    match = SIZE.fullmatch(size)
    return int(match[1]) * int(match[2]) if match else None


def by_area(table: SizeTable) -> Sequence[str]:
    """The tiers, smallest first."""
    return sorted(table, key=lambda tier: largest(table[tier]))


def largest(row: Mapping[str, str]) -> int:
    return max((pixels(size) or 0 for size in row.values()), default=0)


def tier_of(size: object, table: SizeTable) -> str | None:
    """The tier that lists this size, else the smallest whose largest area covers it; None where none does."""
    area = pixels(size)
    if area is None:
        return None
    tiers = by_area(table)
    listed = (tier for tier in tiers if size in table[tier].values())
    covering = (tier for tier in tiers if largest(table[tier]) >= area)
    return next(listed, None) or next(covering, None)
