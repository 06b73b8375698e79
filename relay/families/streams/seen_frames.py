"""A frame of an upstream's stream as the readers see it: without its pictures, and parsed only where one asks.

Most frames are not parsed: what is looked for stands in their bytes. A quote inside of a JSON string is escaped, so
`"usage":{` never stands in what a model says.
"""

from typing import Any

from adapters.kit import error_kinds
from relay.wire import long_strings, sse

# From here on a frame is a picture, mostly, of which nothing is to be learned.
LARGE_BYTES = 64 * 1024


class SeenFrame:
    """`raw` is the frame as it came, `seen` the same without its pictures."""

    __slots__ = ("_document", "raw", "seen")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.seen = raw if len(raw) < LARGE_BYTES else long_strings.without(raw)
        self._document: dict[str, Any] | None = None

    @property
    def has_event(self) -> bool:
        """Comments and blank lines alone are none."""
        return self.seen.startswith(b"data:") or sse.data(self.seen) is not None

    @property
    def said(self) -> bytes:
        """Its data, without the pictures."""
        return sse.data(self.seen) or b""

    @property
    def document(self) -> dict[str, Any]:
        """What its data is in JSON, parsed once; empty where it is no object."""
        if self._document is None:
            document = error_kinds.parsed(self.said)
            self._document = document if isinstance(document, dict) else {}
        return self._document

    @property
    def whole(self) -> dict[str, Any]:
        """Its document with what `document` leaves out. That takes its time: only where it is needed."""
        document = self.document if self.seen is self.raw else error_kinds.parsed(sse.data(self.raw) or b"")
        return document if isinstance(document, dict) else {}

    def on_one_line(self) -> bytes:
        """Its data, with the pictures, on one line: a line end between two values of JSON says nothing."""
        return (sse.data(self.raw) or b"").replace(b"\n", b"")
