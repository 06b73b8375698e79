"""Development script, `python -m sandbox.clips.encode`: encodes the clips beside it with the development tool `av`.

A clip is one second of H.264 (Annex B), a key frame and its followers, made to be repeated; `silence.aac` is one AAC
frame. `sandbox/films.py` cuts and repeats them; the sandbox itself encodes nothing.
"""

import math
from fractions import Fraction
from pathlib import Path

import av
from PIL import Image, ImageDraw

from sandbox.films import FRAME_SIZES, FRAMES_PER_LOOP, SAMPLE_RATE

FOLDER = Path(__file__).parent


def drawn_frame(size: tuple[int, int], index: int) -> Image.Image:
    """Draws a comet on its orbit in an evening sky; the last frame leads back to the first."""
    width, height = size
    sky = Image.merge(
        "RGB",
        [
            Image.linear_gradient("L").point([start + (end - start) * i // 255 for i in range(256)])
            for start, end in ((20, 230), (24, 130), (72, 110))
        ],
    ).resize(size)
    draw = ImageDraw.Draw(sky)
    for tail in range(8, -1, -1):
        angle = 2 * math.pi * (index - tail / 5) / FRAMES_PER_LOOP
        x, y = width / 2 + width * 0.36 * math.cos(angle), height / 2 + height * 0.3 * math.sin(angle)
        radius = min(size) * (0.07 - 0.006 * tail)
        glow = 255 - 14 * tail
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=(255, glow, 120 + glow // 2))
    return sky


def encoded_video(size: tuple[int, int]) -> bytes:
    """Encodes one loop as Annex B, without the encoder's own messages (SEI)."""
    codec = av.CodecContext.create("libx264", "w")
    codec.width, codec.height = size
    codec.pix_fmt, codec.time_base, codec.framerate = "yuv420p", Fraction(1, FRAMES_PER_LOOP), Fraction(FRAMES_PER_LOOP)
    codec.options = {
        "profile": "baseline",
        "preset": "veryslow",
        "crf": "30",
        "tune": "zerolatency",
        "x264-params": "sliced-threads=0:threads=1",
    }
    packets = []
    for index in range(FRAMES_PER_LOOP):
        frame = av.VideoFrame.from_image(drawn_frame(size, index))  # type: ignore[no-untyped-call]
        frame.pts = index
        packets += codec.encode(frame)
    packets += codec.encode(None)
    units = b"".join(bytes(packet) for packet in packets).replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1")[1:]
    return b"".join(b"\0\0\0\1" + unit for unit in units if unit[0] & 31 != 6)


def encoded_silence() -> bytes:
    """Returns a raw AAC frame (mono) from the encoder's steady state."""
    codec = av.CodecContext.create("aac", "w")
    codec.sample_rate, codec.layout, codec.format = SAMPLE_RATE, "mono", "fltp"
    packets = []
    for _ in range(6):
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.sample_rate = SAMPLE_RATE
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        packets += codec.encode(frame)
    return bytes(packets[-1])


if __name__ == "__main__":
    for ratio, frame_size in FRAME_SIZES.items():
        (FOLDER / f"{ratio.replace(':', 'x')}.h264").write_bytes(encoded_video(frame_size))
    (FOLDER / "silence.aac").write_bytes(encoded_silence())
