"""Token counts as upstreams tell them, believed only where they can be counts at all.

A usage with a count that is negative, enormous or no integer is taken as none: the call is then billed by an estimate.
"""

from collections.abc import Callable, Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families.fields import mapping

MOST_TOKENS = 100_000_000
"""Far beyond every context and every answer that a model has."""


class Unbelievable(Exception):
    """A count that no call can have."""


def count(told: Mapping[str, Any], name: str, *details: str) -> int:
    """The count at a path of fields; 0 where none is told. Raises Unbelievable."""
    value: Any = told.get(name)
    for detail in details:
        value = mapping(value).get(detail)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
        raise Unbelievable
    return value


def believed(read: Callable[[Mapping[str, Any]], TokenUsage], told: Any) -> TokenUsage | None:
    """The usage that is told; None where it is no object, not to be believed, or says that nothing was used: no call
    is free of tokens."""
    if not isinstance(told, dict):
        return None
    try:
        usage = read(told)
    except Unbelievable:
        return None
    return usage if usage.input_tokens or usage.output_tokens else None


def openai_usage(told: Mapping[str, Any], given: str, made: str) -> TokenUsage:
    """OpenAI's usage; `given` and `made` are what it calls input and output. Raises Unbelievable."""
    total, went_in = count(told, "total_tokens"), count(told, f"{given}_tokens")
    came_out = output(count(told, f"{made}_tokens"), total=total, input_tokens=went_in)
    cached = min(went_in, count(told, f"{given}_tokens_details", "cached_tokens"))
    return TokenUsage(
        input_tokens=went_in,
        cached_tokens=cached,
        cache_write_tokens=min(went_in - cached, count(told, f"{given}_tokens_details", "cache_write_tokens")),
        output_tokens=came_out,
        reasoning_tokens=count(told, f"{made}_tokens_details", "reasoning_tokens"),
        image_tokens=min(came_out, count(told, f"{made}_tokens_details", "image_tokens")),
    )


def output(told: int, *, total: int, input_tokens: int) -> int:
    """The tokens that came out. Some upstreams leave thoughts out of their count, but not out of the total."""
    return max(told, total - input_tokens)
