"""Whatever a provider sends, looking at it neither fails nor reads much."""

import struct
from io import BytesIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storage import media_types
from tests.storage.samples import film, picture

SEEDS = [picture(form) for form in ("PNG", "JPEG", "GIF", "WEBP", "AVIF")]
SEEDS += [film(), film(movflags="frag_keyframe+empty_moov")]
HEADS = [seed[:16] for seed in SEEDS] + [b"\xff\xd8\xff", b"GIF89a", b"\x00\x00\x00\x10ftypisom\x00\x00\x00\x00"]


def look(content: bytes) -> media_types.Facts:
    return media_types.facts(media_types.sniff(content), BytesIO(content))


class Counting(BytesIO):
    """Counts the bytes that are read, and how often."""

    total = calls = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.total += len(found)
        self.calls += 1
        return found


def check(found: media_types.Facts) -> None:
    """Every fact fits its column."""
    assert all(side is None or 1 <= side <= 1_000_000 for side in (found.width, found.height))
    assert (found.width is None) == (found.height is None)
    assert found.duration_seconds is None or 0 < found.duration_seconds <= 1_000_000


@given(head=st.sampled_from(HEADS), tail=st.binary(max_size=400))
@example(head=b"\xff\xd8\xff", tail=b"\xff\xff\xff\xff")
def test_garbage_behind_a_good_beginning_raises_nothing(head: bytes, tail: bytes) -> None:
    check(look(head + tail))


@given(seed=st.sampled_from(SEEDS), cuts=st.data())
def test_damaged_files_raise_nothing(seed: bytes, cuts: st.DataObject) -> None:
    content = bytearray(seed[: cuts.draw(st.integers(0, len(seed)))])
    places = st.tuples(st.integers(0, 600), st.integers(0, 255))
    for at, byte in cuts.draw(st.lists(places, max_size=20)):
        if at < len(content):
            content[at] = byte
    check(look(bytes(content)))


@given(st.binary(max_size=64))
def test_any_beginning_has_a_type(head: bytes) -> None:
    assert media_types.sniff(head).extension


def nested(depth: int) -> bytes:
    content = b""
    for _ in range(depth):
        content = struct.pack(">I4s", 8 + len(content), b"moov") + content
    return content


def many_tracks() -> bytes:
    empty = struct.pack(">I4s", 8, b"free") * 2_000
    track = struct.pack(">I4s", 8 + len(empty), b"trak") + empty
    return struct.pack(">I4s", 8 + len(track) * 500, b"moov") + track * 500


@pytest.mark.parametrize(
    "boxes",
    [
        nested(5_000),
        many_tracks(),
        struct.pack(">I4s", 8, b"free") * 1_000_000,
        struct.pack(">I4sQ", 1, b"free", 2**63) + bytes(50),
        struct.pack(">I4sQ", 1, b"moov", 2**64 - 1) + bytes(50),
        struct.pack(">I4sQ", 1, b"free", 3) + bytes(50),
    ],
    ids=["nested", "tracks", "tiny boxes", "huge box", "largest box", "backwards"],
)
def test_box_bombs_are_given_up_soon(boxes: bytes) -> None:
    for form in (media_types.MP4, media_types.AVIF):
        file = Counting(b"\x00\x00\x00\x10ftypisom\x00\x00\x00\x00" + boxes)
        media_types.facts(form, file)
        assert file.total < 4_000_000, form
        assert file.calls < 50_000, form


def test_endless_jpeg_segments_are_given_up_soon() -> None:
    file = Counting(b"\xff\xd8" + b"\xff\xe0\x00\x02" * 1_000_000)
    assert media_types.facts(media_types.JPEG, file) == media_types.Facts()
    assert file.total < 100_000
