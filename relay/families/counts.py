"""Reads token counts as upstreams report them, each independently of the others.

A count is a whole number from 0, of any size; JSON does not distinguish 12.0 from 12. Anything else (texts, fractions,
negative numbers) counts as not reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from common.token_usage import TokenUsage
from relay.families.fields import mapping

MOST_TOKENS = 10**12
"""Cap for every larger count: more than any call has, and safe when columns add up millions of them."""
INPUTS = (
    "input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "audio_input_tokens",
    "image_input_tokens", "cached_kinds",
)  # fmt: skip
MOST_NAMES = 100
"""Most fields of one usage that are kept from a stream's events."""


def whole(value: Any) -> int | None:
    """Returns the value as a count; None if it is not one."""
    if type(value) not in (int, float) or not value >= 0:  # bool is a subclass of int
        return None
    told = value if value < MOST_TOKENS else MOST_TOKENS
    return int(told) if told == int(told) else None


def count(told: Any, *path: str) -> int | None:
    """Returns the count at a path of fields; None if there is none."""
    for name in path:
        if not isinstance(told, dict):
            return None
        told = told.get(name)
    return whole(told)


def first(told: Mapping[str, Any], *names: str) -> int | None:
    """Returns the first nonzero count under these names; 0 if all are zero, None if none is reported."""
    zero = None
    for name in names:
        if number := whole(told.get(name)):
            return number
        zero = number if zero is None else zero
    return zero


def part(told: Iterable[Mapping[str, Any]], *names: str) -> int:
    """Returns the first nonzero count, looking in all these objects for the first name, then for the next; else 0."""
    for name in names:
        for each in told:
            if (value := each.get(name)) and (number := whole(value)):
                return number
    return 0


def completed(known: Mapping[str, Any], told: Mapping[str, Any], *, depth: int = 1) -> dict[str, Any]:
    """Updates earlier usage with later usage, ignoring absent, 0 and invalid counts, with which some gateways only fill
    fields. Objects are merged by field."""
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
    """Merges two usages of one call, whose counts only grow: the larger input and the larger output, each with its
    parts; the later on a tie."""
    if known is None:
        return later
    given = known if known.input_tokens > later.input_tokens else later
    made = known if known.output_tokens > later.output_tokens else later
    return replace(made, **{name: getattr(given, name) for name in INPUTS})
