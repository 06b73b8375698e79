"""Writes the events of a stream as elements of one JSON array, as they arrive. Pure."""

from collections.abc import Iterable
from typing import Final

from relay.wire import sse

BEGIN: Final = b"["
BETWEEN: Final = b",\r\n"
END: Final = b"]"


def write_elements(frames: Iterable[bytes], *, has_elements: bool) -> bytes:
    """Returns what these frames append to an array, begun or not: their data, unchanged JSON. A frame without an event
    leaves only a blank line."""
    pieces: list[bytes] = []
    for frame in frames:
        element = sse.data(frame)
        if element is not None:
            pieces.append(BETWEEN if has_elements else BEGIN)
            has_elements = True
        pieces.append(frame if element is None else element)
    return b"".join(pieces)
