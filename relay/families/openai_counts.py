"""The usage that OpenAI's dialects tell, and how those who speak them as well spell it.

Tokens from a cache stand in `…_tokens_details`; Moonshot tells them in `cached_tokens`, DeepSeek in
`prompt_cache_hit_tokens`, gateways before Anthropic's models in the fields of those. Moonshot tells the usage of a
stream in its last choice. xAI counts thoughts beside the output, as its total shows. Facts: openai 3.54
(`CompletionUsage`, `ResponseUsage`, `images_response.Usage`), the API references of these vendors, and LiteLLM's types.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from common.token_usage import TokenUsage
from relay.families import counts, tool_counts
from relay.families.base import AskedCall
from relay.families.fields import mapping, mappings

Paths = tuple[tuple[str, ...], ...]


def _details(sides: tuple[str, ...], detail: str) -> Paths:
    return tuple((f"{side}_tokens_details", detail) for side in sides)


# Where each count may stand, in the order of belief.
SIDES = GIVEN, MADE = ("prompt", "input"), ("completion", "output")
INPUT, OUTPUT = (tuple((f"{side}_tokens",) for side in sides) for sides in SIDES)
CACHED: Paths = (
    *_details(GIVEN, "cached_tokens"),
    *(("cached_tokens",), ("prompt_cache_hit_tokens",), ("cache_read_input_tokens",)),
)
WRITTEN: Paths = (
    *_details(GIVEN, "cache_write_tokens"),
    *_details(GIVEN, "cache_creation_tokens"),
    *(("cache_creation_input_tokens",), ("cache_write_tokens",)),
)
THOUGHTS: Paths = (*_details(MADE, "reasoning_tokens"), ("reasoning_tokens",))
AUDIO_IN, IMAGES_IN = _details(GIVEN, "audio_tokens"), _details(GIVEN, "image_tokens")
AUDIO_OUT, IMAGES_OUT = _details(MADE, "audio_tokens"), _details(MADE, "image_tokens")


def usages(document: Any) -> Iterator[dict[str, Any]]:
    """Where an answer or a chunk may tell its usage, in the order of belief."""
    yield mapping(mapping(document).get("usage"))
    yield from (mapping(choice.get("usage")) for choice in mappings(mapping(document).get("choices"))[:1])


def told(usage: Mapping[str, Any]) -> TokenUsage | None:
    """The tokens of a usage; None where it tells none."""
    found = counts.ToldCounts(
        input=counts.first(usage, *INPUT),
        output=counts.first(usage, *OUTPUT),
        total=counts.count(usage, "total_tokens"),
        cached=counts.first(usage, *CACHED) or 0,
        written=counts.first(usage, *WRITTEN) or 0,
        audio_in=counts.first(usage, *AUDIO_IN) or 0,
        images_in=counts.first(usage, *IMAGES_IN) or 0,
        thoughts=counts.first(usage, *THOUGHTS) or 0,
        images_out=counts.first(usage, *IMAGES_OUT) or 0,
        audio_out=counts.first(usage, *AUDIO_OUT) or 0,
    )
    return counts.believed(found)


def of_answer(document: Any, asked: AskedCall, shown: Mapping[str, int]) -> TokenUsage | None:
    """The first usage of an answer that tells tokens, with the tools that it tells or that the answer has `shown`."""
    for usage in usages(document):
        if found := told(usage):
            return tool_counts.put_in(found, tool_counts.most(shown, tool_counts.requests_told(usage, asked)))
    return tool_counts.put_in(None, shown)
