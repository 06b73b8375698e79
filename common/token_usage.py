"""What a relayed call used, in the same terms for every dialect."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Counts of tokens, and of pictures where those are priced.

    `input_tokens` are all that went in: those read from a cache (`cached_tokens`) and those written to one
    (`cache_write_tokens`) are among them. `output_tokens` are all that came out, `reasoning_tokens` (only shown) and
    `image_tokens` among them.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    image_tokens: int = 0
    images: int = 0
