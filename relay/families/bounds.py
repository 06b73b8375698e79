"""How many tokens a request may be, and likely is: what is reserved before anybody has counted them.

A token of text is at least one byte. Pictures and files are counted on their own, and their bytes are no text.
"""

TOOL_TOKENS = 2_048
"""What providers add to a prompt that comes with tools."""
BYTES_PER_TOKEN = 4
TOOL_CALLS = 10
"""The most calls of a tool that the provider runs, where the request does not say."""
FOUND_TOKENS, OFTEN_FOUND_TOKENS = 65_536, 16_384
"""What a call of such a tool may bring into the prompt: at most, and each of many."""
THING_TOKENS = 1_000
"""Of a picture or another file, likely."""


def text_tokens(size: int, *, has_tools: bool) -> int:
    """The most that a body with so many bytes of text can be."""
    return size + (TOOL_TOKENS if has_tools else 0)


def tokens_read_again(prompt: int, calls: int, context: int | None) -> int:
    """The most input of a provider that reads the prompt, and what it has found until then, once more after each of so
    many calls of its tools; `context` is the most that its model reads at once, where that is known."""
    found = max(calls * FOUND_TOKENS, calls * (calls + 1) // 2 * OFTEN_FOUND_TOKENS)
    read = calls * prompt + found
    return read if context is None else max(min(read, calls * context), context if calls else 0)


def likely(most: int, things: int = 0) -> int:
    """A likely count of tokens for bytes, or for a bound that is made of them, and for pictures and files."""
    return -(-most // BYTES_PER_TOKEN) + things * THING_TOKENS
