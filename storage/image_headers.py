"""Reads width and height from the headers of images; no decoder gets the bytes that a provider sent."""

from typing import BinaryIO

from storage import mp4_boxes
from storage.mp4_boxes import read

LARGEST = 1_000_000
MOST_SEGMENTS = 2000
# Start-of-frame markers C0 to CF, without DHT (C4), JPG (C8) and DAC (CC).
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
LONE_MARKERS = frozenset({0x01, *range(0xD0, 0xD8)})


def size(extension: str, file: BinaryIO) -> tuple[int, int] | None:
    """(width, height) of an image whose sniffed extension this is; None where the header does not say. Never raises
    for garbage, and never reads more than a few hundred bytes at a time."""
    readers = {"png": _png, "jpg": _jpeg, "gif": _gif, "webp": _webp, "avif": _heif, "heic": _heif}
    found = readers[extension](file) if extension in readers else None
    return found if found and all(1 <= side <= LARGEST for side in found) else None


def _png(file: BinaryIO) -> tuple[int, int] | None:
    head = read(file, 0, 24)
    if len(head) < 24 or head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(file: BinaryIO) -> tuple[int, int] | None:
    head = read(file, 0, 10)
    return (int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")) if len(head) == 10 else None


def _webp(file: BinaryIO) -> tuple[int, int] | None:
    """The three forms of a first chunk: lossy, lossless, extended (RFC 9649)."""
    head = read(file, 0, 30)
    kind = head[12:16]
    if kind == b"VP8L" and len(head) >= 25 and head[20] == 0x2F:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if len(head) < 30:
        return None
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    return None


def _jpeg(file: BinaryIO) -> tuple[int, int] | None:
    """Walk the segments to the start of the frame; picture data begin only after it."""
    at = 2
    for _ in range(MOST_SEGMENTS):
        segment = read(file, at, 9)
        if len(segment) < 9 or segment[0] != 0xFF:
            return None
        marker = segment[1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in LONE_MARKERS:
            at += 2
        elif marker in FRAMES:
            return int.from_bytes(segment[7:9], "big"), int.from_bytes(segment[5:7], "big")
        else:
            at += 2 + int.from_bytes(segment[2:4], "big")
    return None


def _heif(file: BinaryIO) -> tuple[int, int] | None:
    """The largest of the sizes in the item properties: the others are tiles, masks and thumbnails."""
    meta = mp4_boxes.find(file, mp4_boxes.whole(file), b"meta")
    if meta is None:
        return None
    inside = mp4_boxes.Box(type=meta.type, start=meta.start + 4, end=meta.end)  # past its version and flags
    properties = mp4_boxes.find(file, inside, b"iprp", b"ipco")
    if properties is None:
        return None
    found = [read(file, box.start, 12) for box in mp4_boxes.children(file, properties) if box.type == b"ispe"]
    sizes = [(int.from_bytes(body[4:8], "big"), int.from_bytes(body[8:12], "big")) for body in found]
    return max(sizes, key=lambda pair: pair[0] * pair[1], default=None)
