"""Real media files, small, made when asked for."""

from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import av
from PIL import Image


@cache
def picture(form: str, width: int = 64, height: int = 48, **options: object) -> bytes:
    """An image in one of Pillow's formats."""
    target = BytesIO()
    Image.new("RGB", (width, height), "teal").save(target, form, **options)
    return target.getvalue()


@cache
def film(form: str = "mp4", *, seconds: int = 2, codec: str = "mpeg4", movflags: str = "") -> bytes:
    """A film of 64×48 in one of FFmpeg's containers, ten frames a second."""
    with TemporaryDirectory() as folder:  # for the index in front, FFmpeg reads its own file again
        path = Path(folder) / f"film.{form}"
        with av.open(str(path), "w", options={"movflags": movflags} if movflags else {}) as container:
            stream = container.add_stream(codec, rate=10)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            for _ in range(seconds * 10):
                container.mux(stream.encode(av.VideoFrame(64, 48, "yuv420p")))
            container.mux(stream.encode())
        return path.read_bytes()
