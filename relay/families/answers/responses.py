"""Reads a response, whole or from its stream's last event: its tokens, its content, and whether it failed."""

from collections.abc import Mapping
from typing import Any

from adapters.base import text
from common.token_usage import TokenUsage
from relay.families import openai_counts, pictures, tool_counts
from relay.families.answers.written import written_bytes
from relay.families.base import AskedCall, Delivered
from relay.families.fields import mapping, mappings

FAILURES = frozenset({"failed", "cancelled"})
SHOWN = frozenset({"text", "refusal", "arguments", "input", "code"})
HIDDEN = "encrypted_content"
TEXTS = SHOWN | {HIDDEN}
# Calls of a coding agent's tools: patches, commands, clicks.
ASKED_OF_TOOLS = frozenset({"action", "operation"})


def usage(document: Any, asked: AskedCall) -> TokenUsage | None:
    run = tool_counts.count_items(mapping(document).get("output"), asked)
    return openai_counts.find_usage(document, asked, run)


def delivered(document: Any) -> Delivered:
    output = mapping(document).get("output")
    return Delivered(
        output_bytes=written_bytes(output, TEXTS, ASKED_OF_TOOLS), pictures=sum(map(is_picture, mappings(output)))
    )


def has_failed(document: Any) -> bool:
    """Tells whether the response reports a failure, which may still have used tokens."""
    return text(mapping(document).get("status")) in FAILURES


def is_picture(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "image_generation_call" and pictures.is_base64(item.get("result"))
