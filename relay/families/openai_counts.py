"""Reads the usage in OpenAI's dialects, including the field names of other vendors that speak them.

Tokens from a cache are in `…_tokens_details`; at Moonshot in `cached_tokens`, at DeepSeek in `prompt_cache_hit_tokens`,
at gateways to Anthropic's models in Anthropic's fields. Moonshot reports a stream's usage in its last choice, Groq did
in `x_groq`. xAI counts thoughts apart from the output, as its total shows. Sources: openai 3.54 (`CompletionUsage`,
`ResponseUsage`, `images_response.Usage`), these vendors' API references, and LiteLLM's types.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts, told_counts, tool_counts
from relay.families.base import AskedCall
from relay.families.fields import mapping, mappings
from relay.families.told_counts import ToldCounts

# Names of input and output.
GIVEN, MADE = ("prompt", "input"), ("completion", "output")
# Names of each count, most trusted first: in the usage itself, and in the details of its side.
INPUT, OUTPUT = (tuple(f"{side}_tokens" for side in sides) for sides in (GIVEN, MADE))
GIVEN_DETAILS, MADE_DETAILS = (tuple(f"{side}_tokens_details" for side in sides) for sides in (GIVEN, MADE))
CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
WRITTEN_DETAILS = ("cache_write_tokens", "cache_creation_tokens")
WRITTEN = ("cache_creation_input_tokens", "cache_write_tokens")


def usages(document: Any) -> Iterator[dict[str, Any]]:
    """Returns the places where an answer or chunk may report usage, most trusted first."""
    yield mapping(mapping(document).get("usage"))
    yield mapping(mapping(mapping(document).get("x_groq")).get("usage"))
    yield from (mapping(choice.get("usage")) for choice in mappings(mapping(document).get("choices"))[:1])


def read_tokens(usage: Mapping[str, Any]) -> TokenUsage | None:
    """Returns the tokens of a usage; None if it reports none."""
    beside, given, made = (usage,), _details(usage, GIVEN_DETAILS), _details(usage, MADE_DETAILS)
    found = ToldCounts(
        input=counts.first(usage, *INPUT),
        output=counts.first(usage, *OUTPUT),
        total=counts.count(usage, "total_tokens"),
        cached=counts.part(given, "cached_tokens") or counts.part(beside, *CACHED),
        written=counts.part(given, *WRITTEN_DETAILS) or counts.part(beside, *WRITTEN),
        audio_in=counts.part(given, "audio_tokens"),
        images_in=counts.part(given, "image_tokens"),
        thoughts=counts.part(made, "reasoning_tokens") or counts.part(beside, "reasoning_tokens"),
        images_out=counts.part(made, "image_tokens"),
        audio_out=counts.part(made, "audio_tokens"),
    )
    return told_counts.reconcile(found)


def find_usage(document: Any, asked: AskedCall, shown: Mapping[str, int]) -> TokenUsage | None:
    """Returns an answer's first usage with tokens, and with the tools that it reports or that the answer has
    `shown`."""
    for usage in usages(document):
        if found := read_tokens(usage):
            return tool_counts.add_calls(found, tool_counts.larger(shown, tool_counts.count_reported(usage, asked)))
    return tool_counts.add_calls(None, shown)


def _details(usage: Mapping[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [details for name in names if isinstance(details := usage.get(name), dict)]
