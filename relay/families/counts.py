"""Token counts as upstreams tell them, believed part by part.

A count is a whole number from 0 on, however large; JSON does not tell 12.0 from 12. Anything else (texts, fractions,
negative numbers) is as if it were not told: only this part is missing then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldCounts:
    """What an upstream tells of one call, in the terms of TokenUsage; None where it tells nothing. `is_cache_beside`,
    `are_thoughts_beside`: what the dialect counts beside the input and the output, where the total does not show
    otherwise."""

    input: int | None = None
    output: int | None = None
    total: int | None = None
    cached: int = 0
    written: int = 0
    written_1h: int = 0
    cached_kinds: Mapping[str, int] = field(default_factory=dict)
    audio_in: int = 0
    images_in: int = 0
    thoughts: int = 0
    images_out: int = 0
    audio_out: int = 0
    is_cache_beside: bool = False
    are_thoughts_beside: bool = False

    @property
    def through_cache(self) -> int:
        return self.cached + self.written + self.written_1h

    @property
    def is_beyond_input(self) -> bool:
        """Whether the tokens from and to the cache are no parts of the input: they cannot be, or the dialect counts
        them beside it and the total does not show otherwise."""
        asked = self.input or 0
        is_shown_inside = self.total is not None and self.total == asked + (self.output or 0)
        return self.through_cache > asked or (self.is_cache_beside and not is_shown_inside)


def whole(value: Any) -> int | None:
    """The count that a value is; None for what is no count."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        return None
    told = min(value, MOST_TOKENS)
    return int(told) if told == int(told) else None


def count(told: Any, *path: str) -> int | None:
    """The count at a path of fields; None where none is told."""
    for name in path:
        if not isinstance(told, dict):
            return None
        told = told.get(name)
    return None if told is None else whole(told)


def first(told: Any, *paths: tuple[str, ...]) -> int | None:
    """The first count at these paths that is not 0; 0 where only zeros are told, None where nothing is."""
    zero = None
    for path in paths:
        if number := count(told, *path):
            return number
        zero = number if zero is None else zero
    return zero


def believed(told: ToldCounts) -> TokenUsage | None:
    """The usage that is told, with no part larger than its whole; None where it says that nothing was used."""
    given, made = _sums(told)
    if not (given or made):
        return None
    cached, written, written_1h, audio_in, images_in = _shared(
        given, told.cached, told.written, told.written_1h, told.audio_in, told.images_in
    )
    images_out, audio_out = _shared(made, told.images_out, told.audio_out)
    return TokenUsage(
        input_tokens=given,
        cached_tokens=cached,
        cached_kinds=dict(zip(told.cached_kinds, _shared(cached, *told.cached_kinds.values()), strict=True)),
        cache_write_tokens=written,
        cache_write_1h_tokens=written_1h,
        audio_input_tokens=audio_in,
        image_input_tokens=images_in,
        output_tokens=made,
        reasoning_tokens=min(made, told.thoughts),
        image_tokens=images_out,
        audio_output_tokens=audio_out,
    )


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


def _sums(told: ToldCounts) -> tuple[int, int]:
    """All tokens that went in, and all that came out."""
    if told.input is None and told.output is not None and told.total is not None and not told.is_cache_beside:
        made = told.output + (told.thoughts if told.are_thoughts_beside else 0)
        return max(0, told.total - made), made
    given = (told.input or 0) + (told.through_cache if told.is_beyond_input else 0)
    if told.output is None:
        rest = told.total - given if told.total is not None and told.input is not None else 0
        return given, max(told.thoughts, rest)
    return _by_total(told, (given, told.output + (told.thoughts if told.are_thoughts_beside else 0)))


def _by_total(told: ToldCounts, usual: tuple[int, int]) -> tuple[int, int]:
    """Both sums as the total shows them, else the usual ones."""
    if told.total is None or sum(usual) == told.total:
        return usual
    asked, said = told.input or 0, told.output or 0
    beside = (asked + told.through_cache, asked + told.cached)
    inputs = beside if told.is_beyond_input else (asked, *beside)
    fits = [pair for pair in product(inputs, (said, said + told.thoughts)) if sum(pair) == told.total]
    return fits[0] if fits else usual


def _shared(whole: int, *parts: int) -> list[int]:
    """The parts in their order, as far as the whole goes."""
    if sum(parts) <= whole:
        return [*parts]
    shares = []
    for part in parts:
        shares.append(min(part, whole))
        whole -= shares[-1]
    return shares
