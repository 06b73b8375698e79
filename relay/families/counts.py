"""Token counts as upstreams tell them, believed part by part.

A count is a whole number from 0 on, however large; JSON does not tell 12.0 from 12. Anything else (texts, fractions,
negative numbers) is as if it were not told: only this part is missing then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from common.token_usage import TokenUsage
from relay.families.fields import mapping

MOST_TOKENS = 10**12
"""As which every larger count is taken: more than any call holds, and columns add millions of them up."""
INPUTS = (
    "input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "audio_input_tokens",
    "image_input_tokens", "cached_kinds",
)  # fmt: skip
MOST_NAMES = 100
"""Fields of one usage that are kept of a stream's events."""


def whole(value: Any) -> int | None:
    """The count that a value is; None for what is no count."""
    if type(value) not in (int, float) or not value >= 0:  # a bool is no count
        return None
    told = value if value < MOST_TOKENS else MOST_TOKENS
    return int(told) if told == int(told) else None


def count(told: Any, *path: str) -> int | None:
    """The count at a path of fields; None where none is told."""
    for name in path:
        if not isinstance(told, dict):
            return None
        told = told.get(name)
    return whole(told)


def first(told: Mapping[str, Any], *names: str) -> int | None:
    """The first count under these names that is not 0; 0 where only zeros are told, None where nothing is."""
    zero = None
    for name in names:
        if number := whole(told.get(name)):
            return number
        zero = number if zero is None else zero
    return zero


def part(told: Iterable[Mapping[str, Any]], *names: str) -> int:
    """The first count in these objects that is not 0, in all of them under the first name, then under the next; 0 where
    there is none."""
    for name in names:
        for each in told:
            if (value := each.get(name)) and (number := whole(value)):
                return number
    return 0


def completed(known: Mapping[str, Any], told: Mapping[str, Any], *, depth: int = 1) -> dict[str, Any]:
    """What a stream has told, with what it tells later: that overrides, but for what is absent, 0 or no count, with
    which some gateways only fill the field. Of objects their fields are taken so."""
    merged = dict(known)
    for name, value in told.items():
        if name not in merged and len(merged) >= MOST_NAMES:
            continue
        if isinstance(value, dict) and depth:
            merged[name] = completed(mapping(merged.get(name)), value, depth=depth - 1)
        elif whole(value) or (isinstance(value, list | dict) and value):
            merged[name] = value
        elif whole(value) == 0:
            merged.setdefault(name, value)
    return merged


def greater(known: TokenUsage | None, later: TokenUsage) -> TokenUsage:
    """Of two usages of one call, whose counts only grow: the input and the output that are greater, each with its
    parts; the later ones where they are alike."""
    if known is None:
        return later
    given = known if known.input_tokens > later.input_tokens else later
    made = known if known.output_tokens > later.output_tokens else later
    return replace(made, **{name: getattr(given, name) for name in INPUTS})
