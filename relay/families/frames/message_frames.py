"""Converts a whole message of Anthropic's dialect into stream events."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from relay.families.fields import mapping, mappings
from relay.wire import sse

# Block fields that a stream sends as deltas: the delta's type and field, and the block's initial value.
PIECES = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "signature": ("signature_delta", "signature"),
}
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
NO_TOKENS = {"input_tokens": 0, "output_tokens": 0}


def make_frames(answer: Mapping[str, Any]) -> list[bytes]:
    """Returns the frames of the message, block by block."""
    return [sse.frame(json.dumps(event), event=event["type"]) for event in _events(answer)]


def _events(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    usage = {**NO_TOKENS, **mapping(answer.get("usage"))}
    begun = {
        **answer,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 0},
    }
    yield {"type": "message_start", "message": {"type": "message", "role": "assistant", **begun}}
    for index, block in enumerate(mappings(answer.get("content"))):
        yield {"type": "content_block_start", "index": index, "content_block": _begun(block)}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": answer.get("stop_reason") or None, "stop_sequence": answer.get("stop_sequence")}
    yield {"type": "message_delta", "delta": ended, "usage": usage}
    yield {"type": "message_stop"}


def _begun(block: Mapping[str, Any]) -> dict[str, Any]:
    begun = {**block, **{name: "" for name in PIECES if isinstance(block.get(name), str)}}
    if block.get("type") in CALLS:
        begun["input"] = {}
    if block.get("citations"):
        begun["citations"] = []
    return begun


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, (kind, field) in PIECES.items():
        if isinstance(block.get(name), str) and block[name]:
            yield {"type": kind, field: block[name]}
    for citation in mappings(block.get("citations")):
        yield {"type": "citations_delta", "citation": citation}
    if block.get("type") in CALLS and block.get("input"):
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
