"""What a relayed call may cost at most, and what it has likely used: pure arithmetic in tokens and micro-USD."""

from dataclasses import replace

from catalog.tariffs import Tariff
from catalog.token_prices import MostUsed
from common.token_usage import TokenUsage
from relay.families import bounds
from relay.families.base import AskedCall, Delivered

PICTURE_TOKENS = 1_056
"""Of a square picture of the middle quality, for an estimate."""
FOUND_TOKENS = 65_536
"""What one call of a tool that the provider runs may bring into the prompt."""
TOOL_CALLS = 10
"""The most calls of one tool that the provider runs, where neither the request nor its price says."""


def bound_micros(asked: AskedCall, tariff: Tariff, *, default_output: int) -> int:
    """What the call can cost at most; `default_output` tokens an answer where neither request nor model has a limit."""
    return tariff.bound_micros(most_used(asked, tariff, default_output=default_output))


def most_used(asked: AskedCall, tariff: Tariff, *, default_output: int) -> MostUsed:
    """The most that an honest provider can count for the call."""
    answers = max(asked.choices, asked.images, 1)
    tools = {name: TOOL_CALLS if limit is None else limit for name, limit in asked.tools.items()}
    found = sum(tools.values()) * FOUND_TOKENS
    context = (tariff.max_input_tokens or 0) if asked.file_path or tools else 0
    written = tariff.output_bound(asked.output_limit, default=default_output) + asked.predicted_bound
    return MostUsed(
        input_tokens=asked.input_bound + asked.pictures_in * tariff.image_tokens + max(context, found),
        output_tokens=answers * written,
        images=max(asked.images, 1),
        amounts=asked.amounts,
        tools=tools,
    )


def estimate(asked: AskedCall, seen: TokenUsage | None, delivered: Delivered) -> TokenUsage:
    """What a call has likely used that ended before it told all: what was seen, completed by what was delivered."""
    pictured = delivered.pictures * PICTURE_TOKENS
    written = bounds.likely(delivered.output_bytes) + pictured
    if seen is None:
        return TokenUsage(
            input_tokens=asked.input_estimate,
            output_tokens=written,
            image_tokens=pictured,
            images=min(delivered.pictures, asked.images),
        )
    return replace(
        seen,
        input_tokens=seen.input_tokens or asked.input_estimate,
        output_tokens=max(seen.output_tokens, written),
        image_tokens=max(seen.image_tokens, pictured),
        images=max(seen.images, min(delivered.pictures, asked.images)),
    )
