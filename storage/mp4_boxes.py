"""Reads the boxes of ISO base media files (MP4, MOV, AVIF, HEIC): bounded, without recursion, trusting no size.

ISO/IEC 14496-12: a box is a 32-bit size, a type of four bytes and a body; size 1 is followed by a 64-bit size, size 0
reaches to the end of the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

MOST_BOXES = 2000
MOST_TRACKS = 16
LONGEST_SECONDS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """`start` and `end` of the body in the file; `end` never lies beyond the enclosing box."""

    type: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """What the movie header and the first picture track say."""

    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None


def children(file: BinaryIO, outer: Box) -> Iterator[Box]:
    """The boxes in a body, in order, up to the first that makes no sense or the 2000th."""
    at = outer.start
    for _ in range(MOST_BOXES):
        header = read(file, at, min(16, outer.end - at))
        if len(header) < 8:
            return
        size, body = int.from_bytes(header[:4], "big"), at + 8
        if size == 1 and len(header) == 16:
            size, body = int.from_bytes(header[8:], "big"), at + 16
        end = outer.end if size == 0 else at + size
        if end < body:
            return
        yield Box(type=header[4:8], start=body, end=min(end, outer.end))
        at = end


def find(file: BinaryIO, outer: Box, *path: bytes) -> Box | None:
    """The first box under this path of types."""
    found: Box | None = outer
    for kind in path:
        found = next((box for box in children(file, found) if box.type == kind), None) if found else None
    return found


def whole(file: BinaryIO) -> Box:
    """The file itself as the outermost body."""
    return Box(type=b"", start=0, end=file.seek(0, 2))


def read(file: BinaryIO, start: int, length: int) -> bytes:
    """Up to `length` bytes from `start`; fewer where the file ends, none for a negative length."""
    if length <= 0:
        return b""
    file.seek(start)
    return file.read(length)


def film(file: BinaryIO) -> Film:
    """Size and length by the movie box, wherever in the file it lies. Never raises for garbage."""
    movie = find(file, whole(file), b"moov")
    if movie is None:
        return Film()
    width, height = _picture_size(file, movie) or (None, None)
    return Film(width=width, height=height, duration_seconds=_duration(file, movie))


def _duration(file: BinaryIO, movie: Box) -> float | None:
    """`mvhd`; a fragmented file leaves it empty there and may tell it in `mehd`."""
    header = _body(file, find(file, movie, b"mvhd"), 32)
    is_long = header[:1] == b"\x01"
    scale = int.from_bytes(header[20:24] if is_long else header[12:16], "big")
    ticks = _ticks(header[24:32] if is_long else header[16:20])
    if not ticks:
        extended = _body(file, find(file, movie, b"mvex", b"mehd"), 12)
        ticks = _ticks(extended[4:12] if extended[:1] == b"\x01" else extended[4:8])
    if not ticks or not scale or ticks / scale > LONGEST_SECONDS:
        return None
    return round(ticks / scale, 3)


def _ticks(field: bytes) -> int:
    """0 where the field says that it does not know: all bits set."""
    return 0 if field == b"\xff" * len(field) else int.from_bytes(field, "big")


def _picture_size(file: BinaryIO, movie: Box) -> tuple[int, int] | None:
    """The presentation size in `tkhd` (its last 8 bytes, 16.16 fixed point) of the first video track that has one."""
    tracks = (box for box in children(file, movie) if box.type == b"trak")
    for track in islice(tracks, MOST_TRACKS):
        if _body(file, find(file, track, b"mdia", b"hdlr"), 12)[8:12] != b"vide":
            continue
        header = _body(file, find(file, track, b"tkhd"), 96)
        end = 96 if header[:1] == b"\x01" else 84
        width, height = (int.from_bytes(header[at : at + 2], "big") for at in (end - 8, end - 4))
        if len(header) >= end and width and height:
            return width, height
    return None


def _body(file: BinaryIO, box: Box | None, most: int) -> bytes:
    return read(file, box.start, min(most, box.end - box.start)) if box else b""
