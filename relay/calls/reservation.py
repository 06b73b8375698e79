"""Bounds what a relayed call can cost and estimates what it has used, in tokens and micro-USD. Pure."""

from dataclasses import replace

from catalog.tariffs import Tariff
from catalog.token_prices import MostUsed
from common.token_usage import TokenUsage
from relay.families import bounds
from relay.families.base import TOOL_CALLS, AskedCall, Delivered

PICTURE_TOKENS = 1_056
"""Tokens of a square picture of medium quality, for an estimate."""
SOUND_BYTES = 2_560
"""Base64 characters of one token of sound, for an estimate: a twenty-fifth of a second at 24 kHz and 16 bits."""
FOUND_TOKENS = 65_536
"""Tokens that one call of a provider's tool may add to the prompt."""
FETCHES = frozenset({"web_fetch", "url_context"})
"""Tools that return whole documents, as long as the model's context."""


def bound_micros(asked: AskedCall, tariff: Tariff, *, default_output: int) -> int:
    """Returns the most that the call can cost; an answer counts `default_output` tokens if neither request nor model
    has a limit."""
    return tariff.bound_micros(most_used(asked, tariff, default_output=default_output))


def most_used(asked: AskedCall, tariff: Tariff, *, default_output: int) -> MostUsed:
    """Returns the highest usage that an honest provider can report for the call.

    With tools, the provider reads the prompt and everything found and written so far again after each tool call, and
    bills it as input: usage at OpenAI and Anthropic is the sum over these readings. This holds for each answer. An
    answer's output limit covers all its readings: `max_output_tokens` limits the response, `max_tokens` the request.
    """
    answers = max(asked.choices, asked.images, asked.passes)
    tools = _tool_calls(asked, tariff)
    prompt = asked.input_bound + asked.pictures_in * tariff.image_tokens
    prompt += (tariff.max_input_tokens or 0) if asked.file_path else 0
    output = tariff.output_bound(asked.output_limit, default=default_output)
    output = tariff.output_bound(output + asked.thoughts_bound, default=0) + asked.predicted_bound
    context = tariff.max_input_tokens
    found = context if context and FETCHES & tools.keys() else FOUND_TOKENS
    again = _read_again(prompt + output, found, sum(tools.values()), context)
    return MostUsed(
        input_tokens=asked.passes * prompt + answers * again,
        output_tokens=answers * output,
        images=max(asked.images, 1),
        amounts=asked.amounts,
        tools={name: asked.choices * calls for name, calls in tools.items()},
    )


def _tool_calls(asked: AskedCall, tariff: Tariff) -> dict[str, int]:
    """Returns the most expensive calls of each tool for one answer; a shared limit goes to the most expensive first."""
    limits = {name: TOOL_CALLS if limit is None else limit for name, limit in asked.tools.items()}
    left = sum(limits.values())
    if asked.tool_calls is not None:
        limits = dict.fromkeys(limits, asked.tool_calls)
        left = asked.tool_calls
    calls = {}
    for name in sorted(limits, key=lambda name: tariff.tools.get(name, 0), reverse=True):
        calls[name] = min(limits[name], left)
        left -= calls[name]
    return calls


def _read_again(first: int, found: int, calls: int, context: int | None) -> int:
    """Returns the input read after each tool call, which grows by what was found but never beyond the context."""
    growing = calls if context is None else min(max((context - first) // found, 0), calls)
    return growing * first + found * growing * (growing + 1) // 2 + (calls - growing) * (context or 0)


def estimate(asked: AskedCall, seen: TokenUsage | None, delivered: Delivered) -> TokenUsage:
    """Estimates the usage of a call that ended before reporting all of it, from what was reported and delivered."""
    pictured = delivered.pictures * PICTURE_TOKENS
    spoken = -(-delivered.sound_bytes // SOUND_BYTES)
    written = bounds.likely(delivered.output_bytes) + pictured + spoken
    if seen is None:
        return TokenUsage(
            input_tokens=asked.input_estimate,
            output_tokens=written,
            image_tokens=pictured,
            audio_output_tokens=spoken,
            images=min(delivered.pictures, asked.images),
        )
    return replace(
        seen,
        input_tokens=seen.input_tokens or asked.input_estimate,
        output_tokens=max(seen.output_tokens, written),
        image_tokens=max(seen.image_tokens, pictured),
        audio_output_tokens=max(seen.audio_output_tokens, spoken),
        images=max(seen.images, min(delivered.pictures, asked.images)),
    )
