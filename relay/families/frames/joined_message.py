"""Joins the events of Anthropic's dialect into the whole message."""

from collections.abc import Iterable, Mapping
from typing import Any

from adapters.kit import error_kinds
from relay.families.fields import mapping
from relay.families.frames.pieces import Pieces, PieceShape, by_index

MESSAGE = PieceShape(objects={"usage": PieceShape()})
WRITTEN = "partial_json"
BLOCK = PieceShape(
    texts=frozenset({"text", "thinking", "signature", "content", WRITTEN}), lists=frozenset({"citations"})
)


def join_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Returns the message; None if it never began."""
    message, blocks = Pieces(MESSAGE), dict[int, Pieces]()
    is_begun, last = False, 0
    for event in events:
        kind = event.get("type")
        if kind == "message_start":
            is_begun = True
            message.take(mapping(event.get("message")))
        elif kind == "message_delta":
            message.take({name: value for name, value in event.items() if name not in ("type", "delta")})
            message.take(mapping(event.get("delta")))
        elif kind in ("content_block_start", "content_block_delta"):
            last = by_index(event, last)
            blocks.setdefault(last, Pieces(BLOCK)).take(_piece(event))
    if not (is_begun or blocks):
        return None
    told = message.document()
    content = [_block(blocks[index].document()) for index in sorted(blocks)]
    return {"type": "message", "role": "assistant", **told, "content": content or told.get("content") or []}


def _piece(event: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an event's part of its block, with the block's type instead of the delta's."""
    delta = {name: value for name, value in mapping(event.get("delta")).items() if name != "type"}
    if "citation" in delta:
        delta["citations"] = [delta.pop("citation")]
    return {**mapping(event.get("content_block")), **delta}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """Returns the block with its tool input, if that is complete."""
    if (written := block.pop(WRITTEN, None)) is not None:
        asked = error_kinds.parsed(str(written).encode(errors="replace"))
        block["input"] = asked if isinstance(asked, dict) else mapping(block.get("input"))
    return block
