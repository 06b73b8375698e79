"""Bounds and estimates a request's tokens before anyone has counted them.

A token of text has at least one byte. Pictures and files are counted separately, so their bytes are not text.
"""

TOOL_TOKENS = 2_048
"""Tokens that providers add to a prompt with tools."""
BYTES_PER_TOKEN = 4
THING_TOKENS = 1_000
"""Likely tokens of a picture or another file."""


def text_tokens(size: int, *, has_tools: bool) -> int:
    """Returns the most tokens that `size` bytes of text can be."""
    return size + (TOOL_TOKENS if has_tools else 0)


def likely(most: int, things: int = 0) -> int:
    """Estimates tokens from a bound in bytes, and from pictures and files."""
    return -(-most // BYTES_PER_TOKEN) + things * THING_TOKENS
