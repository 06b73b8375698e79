"""Reads the events of a picture stream."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from common.token_usage import COUNTS, TokenUsage
from relay.families.answers import images as answers
from relay.families.fields import mapping
from relay.families.pictures import COMPLETED, SUCCEEDED, is_item
from relay.families.streams.reader import FrameReader
from relay.families.streams.seen_frames import SeenFrame

EVENT = re.compile(rb'"type"\s*:\s*"image_(?:generation|edit)\.(?:partial_(?:succeeded|failed)|completed)"')
FAILED = ("image_generation.partial_failed", "image_edit.partial_failed")
KINDS = (*COMPLETED, *SUCCEEDED, *FAILED)
OWN = re.compile(rb'"type"\s*:\s*"image_(?:generation|edit)\.')


class ImagesReader(FrameReader):
    """Reader of one call's picture events."""

    __slots__ = ("_completed", "_is_by_item", "_made")
    own = OWN

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._completed = self._made = 0
        self._is_by_item = False

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        return isinstance(document.get("data"), list) and not document.get("type")

    def _watch(self, frame: SeenFrame) -> bool:
        if b'"image_' in frame.seen and EVENT.search(frame.seen) and frame.document.get("type") in KINDS:
            self._take(frame.document)
        return True

    def _error_in(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Finds a stream's error; failure of a single picture is none, since others may follow."""
        return None if document.get("type") in FAILED else super()._error_in(document)

    def _take(self, event: Mapping[str, Any]) -> None:
        """Reads a completed event. Each completed picture reports its own tokens, and the last one ends the stream. If
        pictures have events of another type, one completed event reports all tokens and ends the stream."""
        is_end = event.get("type") in COMPLETED
        self._is_by_item = self._is_by_item or not is_end
        self._completed += int(is_end)
        self._made = min(self._made + int(event.get("type") not in FAILED and is_item(event)), self._asked.images)
        known, told = self.usage or TokenUsage(), answers.read_tokens(mapping(event.get("usage"))) or TokenUsage()
        self._usage.total = answers.with_pictures(_sum(known, told), self._made, event)
        self._output.pictures = self._made
        self.is_over = self.can_end = is_end and (self._is_by_item or self._completed >= self._asked.images)


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in COUNTS})
