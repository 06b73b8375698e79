"""How many tokens a request may be, and likely is: what is reserved before anybody has counted them.

A token of text is at least one byte. Pictures and files are counted on their own, and their bytes are no text.
"""

TOOL_TOKENS = 2_048
"""What providers add to a prompt that comes with tools."""
BYTES_PER_TOKEN = 4
THING_TOKENS = 1_000
"""Of a picture or another file, likely."""


def text_tokens(size: int, *, has_tools: bool) -> int:
    """The most that a body with so many bytes of text can be."""
    return size + (TOOL_TOKENS if has_tools else 0)


def likely(most: int, things: int = 0) -> int:
    """A likely count of tokens for bytes, or for a bound that is made of them, and for pictures and files."""
    return -(-most // BYTES_PER_TOKEN) + things * THING_TOKENS
