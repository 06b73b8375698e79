"""Boxes of an MP4 file (ISO 14496-12): the layout, without the content."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

IDENTITY_MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One track before its bytes have a place in the file.

    `samples` is the part of the sample table about sizes and key frames; every sample lasts `sample_ticks`.
    """

    number: int
    timescale: int
    size: tuple[int, int]
    handler: bytes
    media_header: bytes
    description: bytes
    sample_count: int
    sample_ticks: int
    samples: bytes
    media: bytes

    @property
    def ticks(self) -> int:
        """Returns the track's length in its own timescale."""
        return self.sample_count * self.sample_ticks


def movie(tracks: Sequence[Track], seconds: int) -> bytes:
    """Builds a whole file, with its index before its media, so that it plays while loading."""
    head = box(b"ftyp", b"isom", struct.pack(">I", 512), b"isomiso2avc1mp41")
    # Offsets have a fixed width, so the index keeps its length when they are filled in.
    start = len(head) + len(index(tracks, seconds, start=0)) + 8
    return b"".join([head, index(tracks, seconds, start=start), box(b"mdat", *(track.media for track in tracks))])


def box(name: bytes, *parts: bytes) -> bytes:
    """Builds a box: size, name, content."""
    content = b"".join(parts)
    return struct.pack(">I", 8 + len(content)) + name + content


def full_box(name: bytes, *parts: bytes, flags: int = 0) -> bytes:
    """Builds a box with version 0 and flags."""
    return box(name, struct.pack(">I", flags), *parts)


def table(name: bytes, *rows: tuple[int, ...]) -> bytes:
    """Builds a full box that is a counted list of rows of 32-bit numbers."""
    return full_box(name, struct.pack(">I", len(rows)), *(struct.pack(f">{len(row)}I", *row) for row in rows))


def descriptor(tag: int, *parts: bytes) -> bytes:
    """Builds a descriptor of ISO 14496-1, shorter than 128 bytes."""
    content = b"".join(parts)
    return bytes([tag, len(content)]) + content


def index(tracks: Sequence[Track], seconds: int, *, start: int) -> bytes:
    """Builds the `moov` box; the tracks' media follow each other from byte `start`."""
    header = full_box(
        b"mvhd",
        struct.pack(">4I", 0, 0, 1000, seconds * 1000),
        struct.pack(">IHxx8x", 0x10000, 0x100),
        IDENTITY_MATRIX,
        bytes(24),
        struct.pack(">I", len(tracks) + 1),
    )
    boxes = []
    for track in tracks:
        boxes.append(box(b"trak", track_header(track), media_box(track, start)))
        start += len(track.media)
    return box(b"moov", header, *boxes)


def track_header(track: Track) -> bytes:
    """Builds the `tkhd` box: number, length, volume, size."""
    volume = 0x100 if track.handler == b"soun" else 0
    return full_box(
        b"tkhd",
        struct.pack(">4I", 0, 0, track.number, 0),
        struct.pack(">I8x", track.ticks * 1000 // track.timescale),
        struct.pack(">HHHxx", 0, 0, volume),
        IDENTITY_MATRIX,
        struct.pack(">II", track.size[0] << 16, track.size[1] << 16),
        flags=3,
    )


def media_box(track: Track, offset: int) -> bytes:
    """Builds the `mdia` box; all samples of the track are one chunk at byte `offset`."""
    undetermined_language = 0x55C4
    header = full_box(b"mdhd", struct.pack(">4IHH", 0, 0, track.timescale, track.ticks, undetermined_language, 0))
    handler = full_box(b"hdlr", bytes(4), track.handler, bytes(12), b"sandbox\0")
    same_file = box(b"dinf", full_box(b"dref", struct.pack(">I", 1), full_box(b"url ", flags=1)))
    sample_table = box(
        b"stbl",
        full_box(b"stsd", struct.pack(">I", 1), track.description),
        table(b"stts", (track.sample_count, track.sample_ticks)),
        track.samples,
        table(b"stsc", (1, track.sample_count, 1)),
        table(b"stco", (offset,)),
    )
    return box(b"mdia", header, handler, box(b"minf", track.media_header, same_file, sample_table))
