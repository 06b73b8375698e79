"""The usage that OpenAI's dialects tell, and how those who speak them as well spell it.

Tokens from a cache stand in `…_tokens_details`; Moonshot tells them in `cached_tokens`, DeepSeek in
`prompt_cache_hit_tokens`, gateways before Anthropic's models in the fields of those. Moonshot tells the usage of a
stream in its last choice, Groq told it in `x_groq`. xAI counts thoughts beside the output, as its total shows. Facts:
openai 3.54 (`CompletionUsage`, `ResponseUsage`, `images_response.Usage`), the API references of these vendors, and
LiteLLM's types.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts, told_counts, tool_counts
from relay.families.base import AskedCall
from relay.families.fields import mapping, mappings
from relay.families.told_counts import ToldCounts

# How either side is spelled.
GIVEN, MADE = ("prompt", "input"), ("completion", "output")
# The names of each count, in the order of belief: beside the others, and among the details of its side.
INPUT, OUTPUT = (tuple(f"{side}_tokens" for side in sides) for sides in (GIVEN, MADE))
GIVEN_DETAILS, MADE_DETAILS = (tuple(f"{side}_tokens_details" for side in sides) for sides in (GIVEN, MADE))
CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
WRITTEN_DETAILS = ("cache_write_tokens", "cache_creation_tokens")
WRITTEN = ("cache_creation_input_tokens", "cache_write_tokens")


def usages(document: Any) -> Iterator[dict[str, Any]]:
    """Where an answer or a chunk may tell its usage, in the order of belief."""
    yield mapping(mapping(document).get("usage"))
    yield mapping(mapping(mapping(document).get("x_groq")).get("usage"))
    yield from (mapping(choice.get("usage")) for choice in mappings(mapping(document).get("choices"))[:1])


def told(usage: Mapping[str, Any]) -> TokenUsage | None:
    """The tokens of a usage; None where it tells none."""
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
    return told_counts.believed(found)


def find_usage(document: Any, asked: AskedCall, shown: Mapping[str, int]) -> TokenUsage | None:
    """The first usage of an answer that tells tokens, with the tools that it tells or that the answer has `shown`."""
    for usage in usages(document):
        if found := told(usage):
            return tool_counts.put_in(found, tool_counts.most(shown, tool_counts.requests_told(usage, asked)))
    return tool_counts.put_in(None, shown)


def _details(usage: Mapping[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [details for name in names if isinstance(details := usage.get(name), dict)]
