"""The events of a message in Anthropic's dialect as the whole message."""

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
    """The message; None where it never began."""
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
    """What an event says of its block. The type is that of the block, not of the delta."""
    delta = {name: value for name, value in mapping(event.get("delta")).items() if name != "type"}
    if "citation" in delta:
        delta["citations"] = [delta.pop("citation")]
    return {**mapping(event.get("content_block")), **delta}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    """With what was written for a tool, if that is whole."""
    if (written := block.pop(WRITTEN, None)) is not None:
        asked = error_kinds.parsed(str(written).encode(errors="replace"))
        block["input"] = asked if isinstance(asked, dict) else mapping(block.get("input"))
    return block
