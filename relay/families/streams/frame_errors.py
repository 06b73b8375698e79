"""Finds the error that a frame of a stream tells: as the vendors write one, or as gateways do in a first frame."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from relay.families.streams.seen_frames import SeenFrame

ERROR = re.compile(rb'"error"\s*:\s*[{"]|"type"\s*:\s*"error"')
NAMED_ERROR = re.compile(rb"^event: ?error\s*$", re.MULTILINE)
TEXT_ERROR = re.compile(rb'"?[^{\[]*\berror\b', re.IGNORECASE)
# How gateways say in a first event that they have failed, without any `error`.
FAILED = re.compile(rb'"success"\s*:\s*false|"(?:code|status|status_code|statusCode)"\s*:\s*"?[45]\d\d"?\s*[,}]')
MEMBERS = ("candidates", "choices", "promptFeedback", "response", "type", "usage", "usageMetadata")
Found = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


def told(frame: SeenFrame, found: Found, *, is_first: bool) -> Mapping[str, Any] | None:
    """The error of a frame, as an answer of the vendor would say it; None where it tells none. `found` says what of a
    document that may hold one is the error."""
    if b"error" in frame.seen:
        if is_named(frame):
            return frame.document
        if ERROR.search(frame.seen):
            return found(frame.document)
    if is_first and FAILED.search(frame.seen):
        return frame.document if _is_gateways(frame.document) else None
    return None


def is_named(frame: SeenFrame) -> bool:
    """Whether its `event:` line calls it an error."""
    return NAMED_ERROR.search(frame.seen) is not None


def is_text(said: bytes) -> bool:
    """Whether data that is no object tells an error in words."""
    return TEXT_ERROR.match(said) is not None


def find_error(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The document where it tells an error."""
    return document if document.get("error") or document.get("type") == "error" else None


def _is_gateways(document: Mapping[str, Any]) -> bool:
    return bool(document) and not any(document.get(name) for name in MEMBERS)
