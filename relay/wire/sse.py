"""Cuts a stream of server-sent events into frames: the bytes of one event with the blank line that ends it.

The bytes stay as they came. Lines may end in LF, CRLF or CR, and chunks may break anywhere: the frames are the same.
A blank line or comments alone are a frame, too, with no event in it: upstreams keep a connection open with them.
"""

import codecs
import json
import re
from typing import Final

LARGEST_FRAME_BYTES: Final = 32 * 1024 * 1024
BLANK_LINE = re.compile(rb"\r\n?|\n")
# Two line ends: a CRLF is never both of them. Each branch begins with a byte, so the search is for two bytes.
FRAME_END = re.compile(rb"\r\n(?:\r\n?|\n)|\n(?:\r\n?|\n)|\r(?!\n)(?:\r\n?|\n)")
LONGEST_END = 3  # of the four bytes that end a frame, those that may have come without the last one
DONE = b"[DONE]"


class FrameTooLarge(Exception):
    """A frame is beyond 32 MiB, or never ends."""


class Frames:
    """The frames of one stream, as its chunks come. A byte order mark before the first is taken away."""

    __slots__ = ("_is_begun", "_pending", "_searched")

    def __init__(self) -> None:
        self._pending = bytearray()
        self._searched = 0
        self._is_begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The frames that this chunk completes. Raises FrameTooLarge."""
        self._pending += chunk
        if not self._is_begun and not self._begin():
            return []
        frames, begin = self._whole()
        del self._pending[:begin]
        self._searched = max(0, len(self._pending) - LONGEST_END)
        if len(self._pending) > LARGEST_FRAME_BYTES:
            raise FrameTooLarge
        return frames

    def rest(self) -> bytes:
        """The last event, where the upstream has ended without its blank line, with one; empty where nothing is left,
        or only a piece of an event."""
        left = bytes(self._pending)
        self._pending.clear()
        said = data(left)
        if said is None or not (said == DONE or _is_json(said)):
            return b""
        return left.rstrip(b"\r\n") + b"\n\n"

    def _begin(self) -> bool:
        """Takes a byte order mark away; False while the bytes may still become one."""
        head = bytes(self._pending[: len(codecs.BOM_UTF8)])
        if head != codecs.BOM_UTF8 and codecs.BOM_UTF8.startswith(head):
            return False
        if head == codecs.BOM_UTF8:
            del self._pending[: len(head)]
        self._is_begun = True
        return True

    def _whole(self) -> tuple[list[bytes], int]:
        """The whole frames, and where the next one begins."""
        frames: list[bytes] = []
        begin, pending, searched = 0, self._pending, self._searched
        if pending.find(b"\n", searched) < 0 and pending.find(b"\r", searched) < 0:
            return frames, begin  # the middle of a picture, say
        while found := BLANK_LINE.match(pending, begin) or FRAME_END.search(pending, max(begin, searched)):
            end = found.end()
            if end == len(pending) and pending[-1] == ord("\r"):
                break  # the next byte may belong to this line's end
            frames.append(bytes(pending[begin:end]))
            begin = end
        return frames, begin


def data(frame: bytes) -> bytes | None:
    """What its data lines say, joined by newlines; None for a frame without an event."""
    # Single bytes are looked for at the speed of memory; a frame with a picture is megabytes.
    plain = frame.replace(b"\r\n", b"\n") if b"\r" in frame else frame
    lines = plain.splitlines() if b"\r" in plain else plain.split(b"\n")
    said = [line[6 if line[5:6] == b" " else 5 :] for line in lines if line.startswith(b"data:")]
    return b"\n".join(said) if said else None


def frame(document: str, *, event: str = "") -> bytes:
    """An event of ours: its data is one line of JSON."""
    named = f"event: {event}\n" if event else ""
    return f"{named}data: {document}\n\n".encode()


def _is_json(said: bytes) -> bool:
    try:
        json.loads(said)
    except (ValueError, RecursionError):
        return False
    return True
