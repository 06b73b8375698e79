"""Makes real films without an encoder: the clips of `sandbox/clips/`, repeated for the length asked for."""

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox.boxes import Track, box, descriptor, full_box, movie, table

FRAME_SIZES = {
    "16:9": (320, 180),
    "9:16": (180, 320),
    "4:3": (256, 192),
    "3:4": (192, 256),
    "1:1": (240, 240),
    "21:9": (336, 144),
    "9:21": (144, 336),
}
FRAMES_PER_LOOP = 12
MAX_LOOPS = 60
SAMPLE_RATE = 8_000
SAMPLES_PER_SOUND = 1_024

CLIPS = Path(__file__).parent / "clips"
# Every whole number of seconds gives whole ticks per frame, in stretched films too.
TIMESCALE = FRAMES_PER_LOOP * MAX_LOOPS * 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A film to make: 1 to 86,400 seconds, in the frame size for a ratio of FRAME_SIZES."""

    ratio: str
    seconds: int
    sound: bool

    @property
    def content_type(self) -> str:
        return "video/mp4"

    @property
    def size(self) -> tuple[int, int]:
        """Returns width and height."""
        return FRAME_SIZES[self.ratio]

    def render(self) -> bytes:
        """Returns the MP4. Up to a minute it has 12 frames per second; longer films show as many frames more slowly."""
        tracks = [picture_track(load_clip(self.ratio), self.seconds)]
        if self.sound:
            tracks.append(sound_track(self.seconds))
        return movie(tracks, self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """One second of H.264: its parameter sets, and its frames, each preceded by its length as in MP4."""

    width: int
    height: int
    sequence_set: bytes
    picture_set: bytes
    frames: tuple[bytes, ...]


def picture_track(clip: Clip, seconds: int) -> Track:
    """Repeats the clip, once per second, at most 60 times."""
    loops = min(seconds, MAX_LOOPS)
    count = loops * FRAMES_PER_LOOP
    sizes = struct.pack(f">{FRAMES_PER_LOOP}I", *map(len, clip.frames)) * loops
    key_frames = table(b"stss", *((1 + loop * FRAMES_PER_LOOP,) for loop in range(loops)))
    return Track(
        number=1,
        timescale=TIMESCALE,
        size=(clip.width, clip.height),
        handler=b"vide",
        media_header=full_box(b"vmhd", bytes(8), flags=1),
        description=avc_description(clip),
        sample_count=count,
        sample_ticks=seconds * TIMESCALE // count,
        samples=full_box(b"stsz", struct.pack(">II", 0, count), sizes) + key_frames,
        media=b"".join(clip.frames) * loops,
    )


def sound_track(seconds: int) -> Track:
    """Makes silence in AAC-LC, mono, no longer than the picture."""
    frame = load_silence()
    count = seconds * SAMPLE_RATE // SAMPLES_PER_SOUND
    return Track(
        number=2,
        timescale=SAMPLE_RATE,
        size=(0, 0),
        handler=b"soun",
        media_header=full_box(b"smhd", bytes(4)),
        description=aac_description(),
        sample_count=count,
        sample_ticks=SAMPLES_PER_SOUND,
        samples=full_box(b"stsz", struct.pack(">II", len(frame), count)),
        media=frame * count,
    )


def avc_description(clip: Clip) -> bytes:
    """Builds the `avc1` sample entry with its decoder configuration (ISO 14496-15)."""
    configuration = b"".join(
        [
            b"\x01" + clip.sequence_set[1:4] + b"\xff\xe1",
            struct.pack(">H", len(clip.sequence_set)) + clip.sequence_set,
            b"\x01" + struct.pack(">H", len(clip.picture_set)) + clip.picture_set,
        ]
    )
    dots_per_inch, depth = 72 << 16, 24
    return box(
        b"avc1",
        struct.pack(">6xH16x", 1),
        struct.pack(">HHII4xH32xHh", clip.width, clip.height, dots_per_inch, dots_per_inch, 1, depth, -1),
        box(b"avcC", configuration),
    )


def aac_description() -> bytes:
    """Builds the `mp4a` sample entry: AAC-LC, 8 kHz, mono (ISO 14496-3, 1.6)."""
    low_complexity, index_of_8_khz, mono = 2, 11, 1
    decoder = descriptor(5, struct.pack(">H", low_complexity << 11 | index_of_8_khz << 7 | mono << 3))
    stream = descriptor(4, b"\x40\x15", bytes(11), decoder)
    elementary = descriptor(3, struct.pack(">Hx", 2), stream, descriptor(6, b"\x02"))
    entry = struct.pack(">6xH8xHH4xI", 1, mono, 16, SAMPLE_RATE << 16)
    return box(b"mp4a", entry, full_box(b"esds", elementary))


@cache
def load_clip(ratio: str) -> Clip:
    """Loads the clip of a ratio, cut at its start codes."""
    width, height = FRAME_SIZES[ratio]
    units = (CLIPS / f"{ratio.replace(':', 'x')}.h264").read_bytes().split(b"\0\0\0\1")[1:]
    by_type = {unit[0] & 31: unit for unit in units}
    frames = tuple(struct.pack(">I", len(unit)) + unit for unit in units if unit[0] & 31 in (1, 5))
    return Clip(width=width, height=height, sequence_set=by_type[7], picture_set=by_type[8], frames=frames)


@cache
def load_silence() -> bytes:
    """Loads the AAC frame."""
    return (CLIPS / "silence.aac").read_bytes()
