"""Finds the error in a stream frame: in a vendor's format, or in a gateway's first frame."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from relay.families.streams.seen_frames import SeenFrame

ERROR = re.compile(rb'"error"\s*:\s*[{"]|"type"\s*:\s*"error"')
NAMED_ERROR = re.compile(rb"^event: ?error\s*$", re.MULTILINE)
TEXT_ERROR = re.compile(rb'"?[^{\[]*\berror\b', re.IGNORECASE)
# Fields of a gateway's failure in a first event without `error`.
FAILED = re.compile(rb'"success"\s*:\s*false|"(?:code|status|status_code|statusCode)"\s*:\s*"?[45]\d\d"?\s*[,}]')
MEMBERS = ("candidates", "choices", "promptFeedback", "response", "type", "usage", "usageMetadata")
Found = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


def find_frame_error(frame: SeenFrame, found: Found, *, is_first: bool) -> Mapping[str, Any] | None:
    """Returns the frame's error in the shape of the vendor's error answers; None without one. `found` extracts the
    error from a document that may hold one."""
    if b"error" in frame.seen:
        if is_named(frame):
            return frame.document
        if ERROR.search(frame.seen):
            return found(frame.document)
    if is_first and FAILED.search(frame.seen):
        return frame.document if _is_gateways(frame.document) else None
    return None


def is_named(frame: SeenFrame) -> bool:
    """Tells whether the frame's `event:` line names an error."""
    return NAMED_ERROR.search(frame.seen) is not None


def is_text(said: bytes) -> bool:
    """Tells whether data that is not an object is an error text."""
    return TEXT_ERROR.match(said) is not None


def find_error(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the document if it reports an error."""
    return document if document.get("error") or document.get("type") == "error" else None


def _is_gateways(document: Mapping[str, Any]) -> bool:
    return bool(document) and not any(document.get(name) for name in MEMBERS)
