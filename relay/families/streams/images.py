"""Reads the events of a stream of pictures."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from common.token_usage import COUNTS, TokenUsage
from relay.families.answers import images as answers
from relay.families.fields import mapping
from relay.families.streams.reader import FrameReader
from relay.families.streams.seen_frames import SeenFrame

EVENT = re.compile(rb'"type"\s*:\s*"image_(?:generation|edit)\.(?:partial_image|completed)"')
OWN = re.compile(rb'"type"\s*:\s*"image_(?:generation|edit)\.')
COMPLETED = ("image_generation.completed", "image_edit.completed")
PARTIAL = ("image_generation.partial_image", "image_edit.partial_image")


class ImagesReader(FrameReader):
    """The events of one call's pictures."""

    __slots__ = ("_completed", "_made")
    own = OWN

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._completed = self._made = 0

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        return isinstance(document.get("data"), list) and not document.get("type")

    def _watch(self, frame: SeenFrame) -> bool:
        if b'"image_' in frame.seen and EVENT.search(frame.seen):
            event = frame.document
            if event.get("type") in PARTIAL:
                self._take(event, 0)
            elif event.get("type") in COMPLETED:
                self._take(event, 1)
        return True

    def _take(self, event: Mapping[str, Any], completed: int) -> None:
        """Each event tells the tokens of its own picture, and the completed one of the last picture ends the stream."""
        begun, is_picture = self._made, answers.is_picture(event)
        self._made += completed if is_picture else 0
        self._completed += completed
        known, told = self.usage or TokenUsage(), answers.told(mapping(event.get("usage"))) or TokenUsage()
        made = min(max(known.images, begun + int(is_picture)), self._asked.images)
        if completed or made != known.images:
            tokens = _sum(known, told) if completed else known
            self._usage.total = answers.with_pictures(tokens, made, event)
        self._output.pictures = made
        self.is_over = self.can_end = self._completed >= self._asked.images


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in COUNTS})
