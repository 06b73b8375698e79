"""Measures what a stream has brought, finding texts in a frame without parsing it."""

import re

from adapters.kit import error_kinds
from relay.families.base import Delivered
from relay.wire import splicing


class StreamOutput:
    """Totals of written bytes, pictures, and sound in base64 characters."""

    __slots__ = ("pictures", "sound_bytes", "written_bytes")

    def __init__(self) -> None:
        self.written_bytes = self.pictures = self.sound_bytes = 0

    @property
    def delivered(self) -> Delivered:
        return Delivered(output_bytes=self.written_bytes, pictures=self.pictures, sound_bytes=self.sound_bytes)

    def add(self, written_bytes: int = 0, pictures: int = 0, sound_bytes: int = 0) -> None:
        """Adds a frame's amounts."""
        self.written_bytes += written_bytes
        self.pictures += pictures
        self.sound_bytes += sound_bytes

    def raise_to(self, whole: Delivered) -> None:
        """Raises the totals to at least these."""
        self.written_bytes = max(self.written_bytes, whole.output_bytes)
        self.pictures = max(self.pictures, whole.pictures)


def texts(*names: str) -> re.Pattern[bytes]:
    """Returns a pattern that finds the texts of these fields in JSON of any length."""
    return re.compile(rb'"(?:' + "|".join(names).encode() + rb')"\s*:\s*(' + splicing.STRING + rb")", re.DOTALL)


def bytes_of(texts: re.Pattern[bytes], frame: bytes) -> int:
    """Returns the UTF-8 length of a frame's texts."""
    return sum(_decoded_bytes(text[1]) for text in texts.finditer(frame))


def _decoded_bytes(literal: bytes) -> int:
    if b"\\" not in literal:
        return len(literal) - 2
    return len(str(error_kinds.parsed(literal)).encode(errors="replace"))
