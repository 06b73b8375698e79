"""Cuts a stream of server-sent events into frames: the bytes of one event with its closing blank line.

Bytes are unchanged. Lines may end in LF, CRLF or CR, and chunks may break anywhere. Blank lines or comments alone also
make a frame, without an event: upstreams send them as keep-alives.
"""

import codecs
import json
import re
from typing import Final

LARGEST_FRAME_BYTES: Final = 32 * 1024 * 1024
BLANK_LINE = re.compile(rb"\r\n?|\n")
# Two line ends; a CRLF is never both. Each branch begins with a byte, so the search is for two bytes.
FRAME_END = re.compile(rb"\r\n(?:\r\n?|\n)|\n(?:\r\n?|\n)|\r(?!\n)(?:\r\n?|\n)")
LONGEST_END = 3  # of the four bytes that end a frame, the last may be missing
DONE = b"[DONE]"


class FrameTooLarge(Exception):
    """A frame exceeds 32 MiB or never ends."""


class Frames:
    """Cuts one stream's chunks into frames, without a byte order mark at its beginning."""

    __slots__ = ("_is_begun", "_pending", "_searched")

    def __init__(self) -> None:
        self._pending = bytearray()
        self._searched = 0
        self._is_begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Returns the frames that this chunk completes. Raises FrameTooLarge."""
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
        """Returns the last event, with the blank line that the upstream left out; empty if nothing or only part of an
        event is left."""
        left = bytes(self._pending)
        self._pending.clear()
        said = data(left)
        if said is None or not (said == DONE or _is_json(said)):
            return b""
        return left.rstrip(b"\r\n") + b"\n\n"

    def _begin(self) -> bool:
        """Removes a byte order mark; False while the bytes may still become one."""
        head = bytes(self._pending[: len(codecs.BOM_UTF8)])
        if head != codecs.BOM_UTF8 and codecs.BOM_UTF8.startswith(head):
            return False
        if head == codecs.BOM_UTF8:
            del self._pending[: len(head)]
        self._is_begun = True
        return True

    def _whole(self) -> tuple[list[bytes], int]:
        """Returns the whole frames, and where the next one begins."""
        frames: list[bytes] = []
        begin, pending, searched = 0, self._pending, self._searched
        if pending.find(b"\n", searched) < 0 and pending.find(b"\r", searched) < 0:
            return frames, begin  # for example within a picture
        while found := BLANK_LINE.match(pending, begin) or FRAME_END.search(pending, max(begin, searched)):
            end = found.end()
            if end == len(pending) and pending[-1] == ord("\r"):
                break  # the next byte may belong to this line's end
            frames.append(bytes(pending[begin:end]))
            begin = end
        return frames, begin


def data(frame: bytes) -> bytes | None:
    """Joins a frame's data lines by newlines; None for a frame without an event."""
    # Searching single bytes runs at memory speed; a frame with a picture has megabytes.
    plain = frame.replace(b"\r\n", b"\n") if b"\r" in frame else frame
    lines = plain.splitlines() if b"\r" in plain else plain.split(b"\n")
    said = [line[6 if line[5:6] == b" " else 5 :] for line in lines if line.startswith(b"data:")]
    return b"\n".join(said) if said else None


def frame(document: str, *, event: str = "") -> bytes:
    """Returns an event of ours: its data is one line of JSON."""
    named = f"event: {event}\n" if event else ""
    return f"{named}data: {document}\n\n".encode()


def _is_json(said: bytes) -> bool:
    try:
        json.loads(said)
    except (ValueError, RecursionError):
        return False
    return True
