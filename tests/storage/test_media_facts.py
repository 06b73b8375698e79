"""Dimensions and durations come from headers, wherever in the file those lie."""

import struct
import zlib
from io import BytesIO

import pytest

from storage import media_types
from storage.media_types import Facts
from tests.storage.samples import film, picture


def facts(content: bytes) -> Facts:
    return media_types.facts(media_types.sniff(content), BytesIO(content))


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def movie(*, version: int, scale: int, duration: int) -> bytes:
    """A film without tracks, whose header has 32-bit or 64-bit fields."""
    times = struct.pack(">QQIQ" if version else ">IIII", 0, 0, scale, duration)
    header = box(b"mvhd", bytes([version, 0, 0, 0]) + times + bytes(80))
    return box(b"ftyp", b"isom\x00\x00\x00\x00isom") + box(b"moov", header)


def test_images_tell_their_size() -> None:
    for content in (
        picture("PNG", 640, 360),
        picture("GIF", 640, 360),
        picture("JPEG", 640, 360),
        picture("JPEG", 640, 360, progressive=True),
        picture("JPEG", 640, 360, exif=b"Exif\x00\x00" + bytes(20_000)),
        picture("WEBP", 640, 360),
        picture("WEBP", 640, 360, lossless=True),
        picture("WEBP", 640, 360, exif=b"Exif\x00\x00" + bytes(100)),
        picture("AVIF", 640, 360),
    ):
        assert facts(content) == Facts(width=640, height=360), content[:100]


def test_a_picture_too_large_to_decode_is_only_measured() -> None:
    header = struct.pack(">IIBBBBB", 900_000, 900_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    content = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    assert facts(content) == Facts(width=900_000, height=900_000)


def test_a_size_that_no_picture_has_is_not_believed() -> None:
    content = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + b"\xff" * 8
    assert facts(content) == Facts()


@pytest.mark.parametrize(
    "content",
    [film(), film(movflags="faststart"), film("mov")],
    ids=["index at the end", "index in front", "quicktime"],
)
def test_films_tell_their_size_and_length(content: bytes) -> None:
    found = facts(content)
    assert (found.width, found.height) == (64, 48)
    assert found.duration_seconds == pytest.approx(2, abs=0.1)


def test_the_sizes_of_a_fragmented_film_are_found_without_its_length() -> None:
    found = facts(film(movflags="frag_keyframe+empty_moov"))
    assert (found.width, found.height) == (64, 48)


@pytest.mark.parametrize("version", [0, 1])
def test_both_versions_of_the_movie_header_are_read(version: int) -> None:
    assert facts(movie(version=version, scale=600, duration=1500)).duration_seconds == 2.5


def test_a_length_that_says_nothing_is_not_believed() -> None:
    for scale, duration in ((0, 5), (600, 0), (1, 2**32 - 1), (1, 2**31)):
        assert facts(movie(version=0, scale=scale, duration=duration)).duration_seconds is None, (scale, duration)


def test_a_media_box_with_a_64_bit_size_is_stepped_over() -> None:
    content = movie(version=0, scale=10, duration=30)
    large = struct.pack(">I4sQ", 1, b"mdat", 16 + 5) + b"bytes"
    assert facts(content[:20] + large + content[20:]).duration_seconds == 3.0


def test_a_box_of_size_zero_reaches_to_the_end() -> None:
    content = bytearray(movie(version=0, scale=10, duration=30))
    content[20:24] = bytes(4)
    assert facts(bytes(content)).duration_seconds == 3.0


def test_sound_has_no_facts() -> None:
    assert facts(b"OggS" + bytes(100)) == Facts()
