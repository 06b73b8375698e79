"""What a relayed call may cost at most, and what it has likely used: pure arithmetic in tokens and micro-USD."""

from dataclasses import replace

from catalog.tariffs import Tariff
from common.token_usage import TokenUsage
from relay.families import bounds
from relay.families.base import AskedCall


def bound_micros(asked: AskedCall, tariff: Tariff, *, default_output: int) -> int:
    """What the call can cost at most; `default_output` tokens an answer where neither request nor model has a limit."""
    answers, pictures = max(asked.choices, asked.images, 1), max(asked.images, 1)
    output = answers * tariff.output_bound(asked.output_limit, default=default_output)
    return tariff.bound_micros(input_tokens=asked.input_bound, output_tokens=output, pictures=pictures)


def estimate(asked: AskedCall, seen: TokenUsage | None, *, output_bytes: int) -> TokenUsage:
    """What a call has likely used that ended before it told all: what was seen, completed by what was delivered."""
    written = bounds.likely(output_bytes)
    if seen is None:
        return TokenUsage(input_tokens=asked.input_estimate, output_tokens=written)
    return replace(
        seen,
        input_tokens=seen.input_tokens or asked.input_estimate,
        output_tokens=max(seen.output_tokens, written),
    )
