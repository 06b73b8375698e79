"""A frame of an upstream's stream as readers see it: without pictures, and parsed only on demand.

Most frames are searched as bytes, not parsed. Quotes within a JSON string are escaped, so `"usage":{` never occurs in
what a model says.
"""

from typing import Any

from adapters.kit import error_kinds
from relay.wire import long_strings, sse

# Larger frames are mostly a picture, which readers need not see.
LARGE_BYTES = 64 * 1024


class SeenFrame:
    """A frame: `raw` as it came, `seen` without its pictures."""

    __slots__ = ("_document", "raw", "seen")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.seen = raw if len(raw) < LARGE_BYTES else long_strings.shorten(raw)
        self._document: dict[str, Any] | None = None

    @property
    def has_event(self) -> bool:
        """Tells whether the frame has an event: comments and blank lines alone are none."""
        return self.seen.startswith(b"data:") or sse.data(self.seen) is not None

    @property
    def said(self) -> bytes:
        """Returns its data without pictures."""
        return sse.data(self.seen) or b""

    @property
    def document(self) -> dict[str, Any]:
        """Returns its JSON object, parsed once; empty if it has none."""
        if self._document is None:
            document = error_kinds.parsed(self.said)
            self._document = document if isinstance(document, dict) else {}
        return self._document

    @property
    def whole(self) -> dict[str, Any]:
        """Returns the document with its pictures. Slow, so only where needed."""
        document = self.document if self.seen is self.raw else error_kinds.parsed(sse.data(self.raw) or b"")
        return document if isinstance(document, dict) else {}

    def on_one_line(self) -> bytes:
        """Returns its data, with pictures, on one line: line ends between JSON values mean nothing."""
        return (sse.data(self.raw) or b"").replace(b"\n", b"")
