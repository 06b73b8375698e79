"""Makes a valid picture of any size in bytes, and a film recognizable by its first box. Constant, so that making them
costs nothing."""

import struct
import zlib

SMALLEST = 69 + 12
"""Bytes of the smallest picture that can be padded: the picture itself, and an empty chunk beside it."""


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(size: int = 0) -> bytes:
    """Returns a PNG of one black pixel, padded by a private chunk to `size` bytes; the smallest PNG if that is
    larger."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(b"\0\0\0\0"))
    bare = len(head) + len(data) + 8 + 12
    padding = chunk(b"prVt", bytes(size - bare - 12)) if size >= bare + 12 else b""
    return b"\x89PNG\r\n\x1a\n" + head + padding + data + chunk(b"IEND", b"")


FILM = struct.pack(">I", 24) + b"ftypisom" + bytes(4) + b"isommp42" + struct.pack(">I", 8) + b"free"
