"""Tells by its first bytes whether an answer is a stream of events, JSON, or neither; its media type may be wrong."""

import codecs

from relay.wire.upstream import UpstreamReply

EVENT_STREAM = "text/event-stream"
OF_JSON = (b"{", b"[")  # no event begins with these
FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
BLANKS = b" \t\r\n" + codecs.BOM_UTF8


async def read_beginning(reply: UpstreamReply) -> bytes:
    """Returns the first bytes, which will be read again; empty if there are none. Blank lines before them are dropped,
    since they mean nothing in a stream or before JSON. Raises UpstreamError."""
    while piece := await reply.read():
        if begin := piece.lstrip(BLANKS):
            reply.put_back(begin)
            return begin
    return b""


def are_json(begin: bytes) -> bool:
    return begin[:1] in OF_JSON


def are_events(begin: bytes, media_type: str) -> bool:
    """Tells whether these are events, under any media type or none. JSON never is."""
    if are_json(begin):
        return False
    is_named = any(begin.startswith(name[: len(begin)]) for name in FIELDS)
    return (media_type or EVENT_STREAM).lower().startswith(EVENT_STREAM) or (bool(begin) and is_named)
