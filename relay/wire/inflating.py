"""Answers that come compressed although none was asked for: some gateways compress whatever a request says."""

import zlib
from collections.abc import Awaitable, Callable

CODINGS = ("gzip", "x-gzip", "deflate")
ANY_HEADER = 32 + zlib.MAX_WBITS  # zlib tells gzip and zlib apart
PIECE_BYTES = 256 * 1024


class BadCompression(Exception):
    """The answer is not compressed as it says, or breaks off."""


def is_compressed(coding: str) -> bool:
    """Whether a Content-Encoding names any compression."""
    return coding.strip().lower() not in ("", "identity")


class Inflated:
    """What `read` gives, as it was before it was compressed: as much at a time as its bytes unfold to, but bounded."""

    def __init__(self, coding: str, read: Callable[[], Awaitable[bytes]]) -> None:
        """Raises BadCompression for a compression that nobody knows here."""
        if coding.strip().lower() not in CODINGS:
            raise BadCompression("the answer is compressed in an unknown way")
        self._compressed = read
        self._inflater = zlib.decompressobj(ANY_HEADER)

    async def read(self) -> bytes:
        """At least a byte; empty at the end of the compressed stream. What comes after that is not read any more."""
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
            raise BadCompression("the answer is badly compressed") from error
