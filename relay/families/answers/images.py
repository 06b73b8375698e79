"""Reads an answer of the Images API, whole or from a stream's events: its pictures and their tokens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.base import text
from common.token_usage import TokenUsage
from relay.families import counts, openai_counts, pictures
from relay.families.base import AskedCall, Delivered
from relay.families.fields import mapping, mappings

LONGEST_KIND = 40  # a size or a quality


def usage(document: Any, asked: AskedCall) -> TokenUsage | None:
    """Returns the usage; of the pictures alone if no tokens are reported."""
    answer = mapping(document)
    made = min(sum(map(pictures.is_item, mappings(answer.get("data")))), asked.images)
    return with_pictures(read_tokens(mapping(answer.get("usage"))), made, answer)


def delivered(document: Any, asked: AskedCall) -> Delivered:
    used = usage(document, asked)
    return Delivered(pictures=used.images if used else 0)


def read_tokens(usage: Mapping[str, Any]) -> TokenUsage | None:
    """Returns the tokens of a usage, None if it reports none. Output tokens are of pictures unless reported as text."""
    found = openai_counts.read_tokens(usage)
    if found is None:
        return None
    details = usage.get("output_tokens_details")
    texts = max(counts.count(details, "text_tokens") or 0, found.reasoning_tokens)
    if found.image_tokens and found.image_tokens + texts >= found.output_tokens:
        return found
    return replace(found, image_tokens=max(0, found.output_tokens - texts) or found.output_tokens)


def with_pictures(usage: TokenUsage | None, made: int, answer: Mapping[str, Any]) -> TokenUsage | None:
    """Adds `made` pictures of the reported size and quality to the usage; None if nothing was used."""
    if not made and (usage is None or not usage.input_tokens + usage.output_tokens):
        return None
    known = usage or TokenUsage()
    size, quality = (text(answer.get(name))[:LONGEST_KIND] for name in ("size", "quality"))
    return replace(known, images=made, size=size or known.size, quality=quality or known.quality)
