"""Removes base64 pictures from an answer before parsing; they are most of its bytes and irrelevant to its cost.

Parsing them would hold the interpreter, and with it the event loop.
"""

import mmap

LONGEST_TEXT = 64 * 1024
KEPT = 64  # of a picture, to show that there is one
LOOKED_AT = 1024
# Characters of text that base64 lacks.
OF_TEXT = (b" ", b"\\", b"\n")


def shorten(raw: bytes | mmap.mmap) -> bytes:
    """Shortens every JSON string that is longer than 64 KiB and does not begin like text. Other bytes than JSON give
    bytes that are not JSON either."""
    kept: list[bytes] = []
    begin = position = 0
    while (opened := raw.find(b'"', position)) >= 0:
        closed = _closing(raw, opened + 1)
        if closed < 0:
            break
        if closed - opened > LONGEST_TEXT and not _is_text(raw[opened + 1 : opened + 1 + LOOKED_AT]):
            kept.append(raw[begin : opened + 1 + KEPT])
            begin = closed
        position = closed + 1
    return b"".join([*kept, raw[begin:]])


def _closing(raw: bytes | mmap.mmap, begin: int) -> int:
    """Returns where the string ends that begins there; -1 if it does not end."""
    while (found := raw.find(b'"', begin)) >= 0:
        escapes = found
        while raw[escapes - 1 : escapes] == b"\\":
            escapes -= 1
        if (found - escapes) % 2 == 0:
            return found
        begin = found + 1
    return -1


def _is_text(head: bytes) -> bool:
    return not head.isascii() or any(sign in head for sign in OF_TEXT)
