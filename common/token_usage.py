"""What a relayed call used, in the same terms for every dialect."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Counts of tokens, of pictures and of tool calls, where those are priced.

    `input_tokens` are all that went in. Parts of them: those read from a cache (`cached_tokens`), those written to one
    for minutes (`cache_write_tokens`) or for an hour (`cache_write_1h_tokens`), and those of sound and of pictures that
    were neither (`audio_input_tokens`, `image_input_tokens`). `output_tokens` are all that came out. Parts of them:
    `image_tokens`, `audio_output_tokens`, and `reasoning_tokens`, which are only shown.

    `cached_kinds` are those of the cached tokens that were sound and pictures (`audio`, `image`), where the provider
    tells them apart.

    `images` counts pictures, `size` and `quality` are theirs as the answer tells them. `tool_calls` counts the calls of
    tools that the provider has run, `tools` divides them by the vendor's name of the tool.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    audio_input_tokens: int = 0
    image_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    image_tokens: int = 0
    audio_output_tokens: int = 0
    images: int = 0
    tool_calls: int = 0
    tools: Mapping[str, int] = field(default_factory=dict)
    cached_kinds: Mapping[str, int] = field(default_factory=dict)
    size: str = ""
    quality: str = ""


COUNTS = tuple(each.name for each in fields(TokenUsage) if each.type is int)
"""The names of its counts, which are columns of calls and of their sums."""
