"""Decides what to believe of a call's reported tokens, whose parts and totals may disagree."""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import NamedTuple

from common.token_usage import TokenUsage


class ToldCounts(NamedTuple):
    """Counts that an upstream reports for one call, named as in TokenUsage; None where it reports nothing.
    `is_cache_beside` and `are_thoughts_beside`: the dialect counts these apart from input and output unless the total
    shows otherwise."""

    input: int | None = None
    output: int | None = None
    total: int | None = None
    cached: int = 0
    written: int = 0
    written_1h: int = 0
    cached_kinds: Mapping[str, int] = MappingProxyType({})
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
        """Tells whether cache tokens are not part of the input: they exceed it, or the dialect counts them apart and
        the total does not show otherwise."""
        asked = self.input or 0
        is_shown_inside = self.total is not None and self.total == asked + (self.output or 0)
        return self.through_cache > asked or (self.is_cache_beside and not is_shown_inside)


def reconcile(told: ToldCounts) -> TokenUsage | None:
    """Returns the usage with no part larger than its whole; None if it reports that nothing was used."""
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


def _sums(told: ToldCounts) -> tuple[int, int]:
    """Returns all input tokens and all output tokens."""
    if told.input is None and told.output is not None and told.total is not None and not told.is_cache_beside:
        made = told.output + (told.thoughts if told.are_thoughts_beside else 0)
        return max(0, told.total - made), made
    given = (told.input or 0) + (told.through_cache if told.is_beyond_input else 0)
    if told.output is None:
        rest = told.total - given if told.total is not None and told.input is not None else 0
        return given, max(told.thoughts, rest)
    return _by_total(told, (given, told.output + (told.thoughts if told.are_thoughts_beside else 0)))


def _by_total(told: ToldCounts, usual: tuple[int, int]) -> tuple[int, int]:
    """Returns both sums as the total shows them, else the usual ones."""
    if told.total is None or sum(usual) == told.total:
        return usual
    asked, said = told.input or 0, told.output or 0
    beside = (told.through_cache, told.cached, told.written + told.written_1h)
    inputs = [asked + part for part in (beside if told.is_beyond_input else (0, *beside))]
    fits = [pair for pair in product(inputs, (said, said + told.thoughts)) if sum(pair) == told.total]
    return fits[0] if fits else usual


def _shared(whole: int, *parts: int) -> list[int]:
    """Cuts the parts, in order, to fit the whole."""
    if sum(parts) <= whole:
        return [*parts]
    shares = []
    for part in parts:
        shares.append(min(part, whole))
        whole -= shares[-1]
    return shares
