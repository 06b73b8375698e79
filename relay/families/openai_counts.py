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

INPUT, OUTPUT = ("prompt", "input"), ("completion", "output")
CACHED = (("cached_tokens",), ("prompt_cache_hit_tokens",), ("cache_read_input_tokens",))
WRITTEN = (("cache_creation_input_tokens",), ("cache_write_tokens",))


def usages(document: Any) -> Iterator[dict[str, Any]]:
    """Where an answer or a chunk may tell its usage, in the order of belief."""
    yield mapping(mapping(document).get("usage"))
    yield from (mapping(choice.get("usage")) for choice in mappings(mapping(document).get("choices"))[:1])


def told(usage: Mapping[str, Any]) -> TokenUsage | None:
    """The tokens of a usage; None where it tells none."""
    found = counts.ToldCounts(
        input=counts.first(usage, *((f"{name}_tokens",) for name in INPUT)),
        output=counts.first(usage, *((f"{name}_tokens",) for name in OUTPUT)),
        total=counts.count(usage, "total_tokens"),
        cached=_of(usage, INPUT, "cached_tokens", *CACHED),
        written=_of(usage, INPUT, "cache_write_tokens", *_details(INPUT, "cache_creation_tokens"), *WRITTEN),
        audio_in=_of(usage, INPUT, "audio_tokens"),
        images_in=_of(usage, INPUT, "image_tokens"),
        thoughts=_of(usage, OUTPUT, "reasoning_tokens", ("reasoning_tokens",)),
        images_out=_of(usage, OUTPUT, "image_tokens"),
        audio_out=_of(usage, OUTPUT, "audio_tokens"),
    )
    return counts.believed(found)


def of_answer(document: Any, asked: AskedCall, shown: Mapping[str, int]) -> TokenUsage | None:
    """The first usage of an answer that tells tokens, with the tools that it tells or that the answer has `shown`."""
    for usage in usages(document):
        if found := told(usage):
            return tool_counts.put_in(found, tool_counts.most(shown, tool_counts.requests_told(usage, asked)))
    return tool_counts.put_in(None, shown)


def _of(usage: Mapping[str, Any], sides: tuple[str, ...], detail: str, *elsewhere: tuple[str, ...]) -> int:
    return counts.first(usage, *_details(sides, detail), *elsewhere) or 0


def _details(sides: tuple[str, ...], detail: str) -> list[tuple[str, ...]]:
    return [(f"{side}_tokens_details", detail) for side in sides]
