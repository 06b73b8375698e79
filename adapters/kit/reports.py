"""Raw values of what providers say of count, size, sound and cost, made fit for `Reported`; None for no sane one."""

import re
import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adapters.base import Reported, text
from common import money

MOST = 10**9
TICKS_PER_USD = 10**10
LONGEST_WORD = 40
NUMERIC = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?", re.IGNORECASE | re.ASCII)
SIZE = re.compile(r"([1-9][0-9]{0,4})[x*:X×]([1-9][0-9]{0,4})")


def part(document: object, name: str) -> Mapping[str, Any]:
    """An object inside of an answer, empty where there is none."""
    found = document.get(name) if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def number_of(value: object) -> float | None:
    """A number, or a text that writes one; None for less than 0, and for what is neither."""
    if isinstance(value, str):
        written = value.strip() if len(value) < LONGEST_WORD else ""
        return float(written) if NUMERIC.fullmatch(written) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max
    return float(value) if is_number else None  # type: ignore[arg-type]


def count_of(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST
    return value if is_count else None  # type: ignore[return-value]


def word_of(value: object) -> str | None:
    """The name of a resolution; some providers give its number alone."""
    name = text(value).strip()
    return (f"{name}p" if name.isdecimal() else name) if 0 < len(name) < LONGEST_WORD else None


def size_of(value: object) -> str | None:
    """Pixels, with whatever stands between them, as WIDTHxHEIGHT."""
    match = SIZE.fullmatch(value.strip()) if isinstance(value, str) and len(value) < LONGEST_WORD else None
    return f"{match[1]}x{match[2]}" if match else None


def switch_of(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def micros_of(value: object, *, units_per_usd: int = 1) -> int | None:
    """A cost in USD, or in units of which so many are one."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MOST * units_per_usd:
        return None
    return money.micros(Decimal(str(value)) / units_per_usd)


def of_pictures(document: object) -> Reported:
    """Of an answer with pictures, in the words of OpenAI Images, Ark, DashScope, OpenRouter and xAI."""
    usage, found = part(document, "usage"), document if isinstance(document, Mapping) else {}
    items = found.get("data")
    first = items[0] if isinstance(items, list) and items and isinstance(items[0], Mapping) else {}
    ticks = micros_of(usage.get("cost_in_usd_ticks"), units_per_usd=TICKS_PER_USD)
    return Reported(
        count=count_of(usage.get("generated_images")) or count_of(usage.get("image_count")),
        size=size_of(first.get("size")) or size_of(found.get("size")),
        cost_micros=micros_of(usage.get("cost")) if ticks is None else ticks,
    )
