"""Takes pictures out of an answer before it is parsed: their base64 is most of its bytes, and says nothing of its cost.

A parser would hold the interpreter for all of them, and the event loop with it.
"""

import mmap

LONGEST_TEXT = 64 * 1024
KEPT = 64  # of a picture: that there is one
LOOKED_AT = 1024
# What text has and base64 has not.
OF_TEXT = (b" ", b"\\", b"\n")


def without(raw: bytes | mmap.mmap) -> bytes:
    """The JSON with every string cut short that is longer than 64 KiB and begins like no text. For bytes that are no
    JSON, some bytes that are none either."""
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
    """Where the string ends that begins there; -1 where it does not."""
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
