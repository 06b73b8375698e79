"""What stands in an upstream request for a portable input is checked as that input is. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.base import Unsupported
from adapters.kit import checks

LONGEST_PROMPT = 32_000


def prompt(field: str, value: object, capabilities: Mapping[str, Any]) -> Iterator[Unsupported]:
    """A text with more than blanks in it, no longer than the service's limit and the channel model's."""
    if not isinstance(value, str) or not value.strip():
        yield Unsupported(field=field, reason="must be a text that is not empty")
        return
    yield from checks.at_most_characters(field, value, LONGEST_PROMPT)
    yield from checks.at_most_characters(field, value, capabilities.get("prompt_max"))
