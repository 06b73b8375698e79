"""How an answer begins: a stream of events, JSON, or neither. Its media type is not always right."""

import codecs

from relay.wire.upstream import UpstreamReply

EVENT_STREAM = "text/event-stream"
OF_JSON = (b"{", b"[")  # no event begins so
FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
BLANKS = b" \t\r\n" + codecs.BOM_UTF8


async def read_beginning(reply: UpstreamReply) -> bytes:
    """Its first bytes, which are read once more; empty where it ends before. Blank lines before them are dropped: they
    say nothing in a stream, nor before JSON. Raises UpstreamError."""
    while piece := await reply.read():
        if begin := piece.lstrip(BLANKS):
            reply.put_back(begin)
            return begin
    return b""


def are_json(begin: bytes) -> bool:
    return begin[:1] in OF_JSON


def are_events(begin: bytes, media_type: str) -> bool:
    """Whether these are events; they may be under another media type, or under none. JSON never is."""
    if are_json(begin):
        return False
    is_named = any(begin.startswith(name[: len(begin)]) for name in FIELDS)
    return (media_type or EVENT_STREAM).lower().startswith(EVENT_STREAM) or (bool(begin) and is_named)
