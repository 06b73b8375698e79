"""Inflates answers that come compressed although none was asked for, as some gateways send them."""

import zlib
from collections.abc import Awaitable, Callable

CODINGS = ("gzip", "x-gzip", "deflate")
ANY_HEADER = 32 + zlib.MAX_WBITS  # zlib detects gzip and zlib
PIECE_BYTES = 256 * 1024


class BadCompression(Exception):
    """The answer is not compressed as declared, or breaks off."""


def is_compressed(coding: str) -> bool:
    """Tells whether a Content-Encoding names any compression."""
    return coding.strip().lower() not in ("", "identity")


class Inflated:
    """Inflates the pieces that `read` returns, with bounded output for each read."""

    def __init__(self, coding: str, read: Callable[[], Awaitable[bytes]]) -> None:
        """Raises BadCompression for an unknown compression."""
        if coding.strip().lower() not in CODINGS:
            raise BadCompression("the compression of the answer is unknown")
        self._compressed = read
        self._inflater = zlib.decompressobj(ANY_HEADER)

    async def read(self) -> bytes:
        """Returns at least a byte; empty at the end of the compressed stream, after which nothing is read."""
        while not self._inflater.eof:
            rest = self._inflater.unconsumed_tail or await self._compressed()
            if piece := self._decompressed(rest):
                return piece
            if not rest:
                raise BadCompression("the answer breaks off")
        return b""

    def _decompressed(self, rest: bytes) -> bytes:
        try:
            return self._inflater.decompress(rest, PIECE_BYTES) if rest else self._inflater.flush()
        except zlib.error as error:
            raise BadCompression("the compression of the answer is broken") from error
