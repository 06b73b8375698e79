"""Tells the media type of a file by its first bytes alone, never by a provider's header or a file name; and by its own
headers the size of a picture. No decoder gets the bytes that a provider sent.

Only media that browsers show without running anything have a type here; SVG, HTML, XML and scripts are plain bytes.
"""

from dataclasses import dataclass
from typing import BinaryIO, Literal

from storage import mp4_boxes

Kind = Literal["image", "video", "audio", "model", "archive", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaType:
    """A recognised type; `extension` without the dot."""

    kind: Kind
    content_type: str
    extension: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a file's own header says of it, as far as it does."""

    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None


PNG = MediaType(kind="image", content_type="image/png", extension="png")
JPEG = MediaType(kind="image", content_type="image/jpeg", extension="jpg")
GIF = MediaType(kind="image", content_type="image/gif", extension="gif")
WEBP = MediaType(kind="image", content_type="image/webp", extension="webp")
AVIF = MediaType(kind="image", content_type="image/avif", extension="avif")
HEIC = MediaType(kind="image", content_type="image/heic", extension="heic")
MP4 = MediaType(kind="video", content_type="video/mp4", extension="mp4")
MOV = MediaType(kind="video", content_type="video/quicktime", extension="mov")
WEBM = MediaType(kind="video", content_type="video/webm", extension="webm")
MP3 = MediaType(kind="audio", content_type="audio/mpeg", extension="mp3")
WAV = MediaType(kind="audio", content_type="audio/wav", extension="wav")
OGG = MediaType(kind="audio", content_type="audio/ogg", extension="ogg")
M4A = MediaType(kind="audio", content_type="audio/mp4", extension="m4a")
GLB = MediaType(kind="model", content_type="model/gltf-binary", extension="glb")
ZIP = MediaType(kind="archive", content_type="application/zip", extension="zip")
PLAIN = MediaType(kind="file", content_type="application/octet-stream", extension="bin")

BY_CONTENT_TYPE = {
    media.content_type: media
    for media in (PNG, JPEG, GIF, WEBP, AVIF, HEIC, MP4, MOV, WEBM, MP3, WAV, OGG, M4A, GLB, ZIP)
}
BY_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"GIF87a", GIF),
    (b"GIF89a", GIF),
    (b"OggS", OGG),
    (b"ID3", MP3),
    (b"glTF\x02\0\0\0", GLB),
    (b"PK\x03\x04", ZIP),
)
BY_BRAND = (
    ({b"avif", b"avis"}, AVIF),
    ({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"}, HEIC),
    ({b"qt  "}, MOV),
    ({b"M4A ", b"M4B "}, M4A),
    ({b"mp41", b"mp42", b"avc1", b"dash", b"M4V ", b"MSNV", b"isom", *(b"iso%d" % n for n in range(2, 10))}, MP4),
)

LARGEST = 1_000_000
HEAD_BYTES = 30
MOST_SEGMENTS = 2000
# Start-of-frame markers C0 to CF, without DHT (C4), JPG (C8) and DAC (CC).
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
LONE_MARKERS = frozenset({0x01, *range(0xD0, 0xD8)})


def sniff(head: bytes) -> MediaType:
    """The type by magic numbers of the file's first bytes (64 are enough); PLAIN for everything unknown."""
    for magic, media in BY_MAGIC:
        if head.startswith(magic):
            return media
    if head[:4] == b"RIFF":
        return {b"WEBP": WEBP, b"WAVE": WAV}.get(head[8:12], PLAIN)
    if head[4:8] == b"ftyp":
        return _by_brand(head)
    if head[:4] == b"\x1a\x45\xdf\xa3" and b"\x42\x82\x84webm" in head[:64]:
        return WEBM
    return MP3 if _is_layer_three(head) else PLAIN


def _by_brand(head: bytes) -> MediaType:
    """ISO base media: the major brand decides, and where it names only the family, the compatible ones."""
    size = min(int.from_bytes(head[:4], "big"), 64, len(head))
    compatible = {head[at : at + 4] for at in range(16, size - 3, 4)}
    for brands in ({head[8:12]}, compatible):
        for known, media in BY_BRAND:
            if known & brands:
                return media
    return PLAIN


def _is_layer_three(head: bytes) -> bool:
    """An MPEG audio frame: sync bits, layer III, and neither the forbidden bit rate nor sampling rate."""
    return (
        len(head) >= 4
        and head[0] == 0xFF
        and head[1] & 0xE6 == 0xE2
        and head[2] & 0xF0 != 0xF0
        and head[2] & 0x0C != 0x0C
    )


def of(content_type: str) -> MediaType:
    """The type that was sniffed when the bytes were stored; PLAIN for what is not on the list."""
    return BY_CONTENT_TYPE.get(content_type, PLAIN)


def facts(media: MediaType, file: BinaryIO) -> Facts:
    """Dimensions and duration by headers, nothing is decoded. Reads and seeks the file; garbage gives no facts."""
    if media.kind == "image":
        width, height = _picture_size(media, file) or (None, None)
        return Facts(width=width, height=height)
    if media in (MP4, MOV, M4A):
        film = mp4_boxes.film(file)
        return Facts(width=film.width, height=film.height, duration_seconds=film.duration_seconds)
    return Facts()


def _picture_size(media: MediaType, file: BinaryIO) -> tuple[int, int] | None:
    """Read (width, height); None where the header does not say. Never raises for garbage, and never reads more than a
    few hundred bytes at a time."""
    if read_head := BY_HEAD.get(media):
        file.seek(0)
        found = read_head(file.read(HEAD_BYTES))
    else:
        found = _jpeg(file) if media is JPEG else _heif(file)
    return found if found and all(1 <= side <= LARGEST for side in found) else None


def _png(head: bytes) -> tuple[int, int] | None:
    if len(head) < 24 or head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> tuple[int, int] | None:
    return (int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")) if len(head) >= 10 else None


def _webp(head: bytes) -> tuple[int, int] | None:
    """The three forms of a first chunk: lossy, lossless, extended (RFC 9649)."""
    kind = head[12:16]
    if kind == b"VP8L" and len(head) >= 25 and head[20] == 0x2F:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if len(head) < HEAD_BYTES:
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
        segment = mp4_boxes.read(file, at, 9)
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
    found = [mp4_boxes.read(file, box.start, 12) for box in mp4_boxes.children(file, properties) if box.type == b"ispe"]
    sizes = [(int.from_bytes(body[4:8], "big"), int.from_bytes(body[8:12], "big")) for body in found]
    return max(sizes, key=lambda pair: pair[0] * pair[1], default=None)


BY_HEAD = {PNG: _png, GIF: _gif, WEBP: _webp}
