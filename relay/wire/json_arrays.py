"""Writes the events of a stream as the elements of one JSON array, as they come. Pure."""

from collections.abc import Iterable
from typing import Final

from relay.wire import sse

BEGIN: Final = b"["
BETWEEN: Final = b",\r\n"
END: Final = b"]"


def written(frames: Iterable[bytes], *, has_elements: bool) -> bytes:
    """What these frames add to an array, which has elements already or begins with them: the data of each is JSON, and
    stays as it is. Of a frame without an event only the blank line is left."""
    pieces: list[bytes] = []
    for frame in frames:
        element = sse.data(frame)
        if element is not None:
            pieces.append(BETWEEN if has_elements else BEGIN)
            has_elements = True
        pieces.append(frame if element is None else element)
    return b"".join(pieces)
