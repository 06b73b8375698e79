"""Stores an answer's bytes in memory or a file as they arrive, and sends them on.

A slow client costs no memory: answers count against the bounds for request bodies (`common/http/spool.py`).
"""

import asyncio
import mmap
from collections.abc import Hashable, Iterator
from tempfile import SpooledTemporaryFile
from typing import Any

from adapters.base import ErrorKind, UpstreamError
from adapters.kit import error_kinds
from common.concurrency import threads
from common.http.asgi import Headers, Send
from common.http.spool import Room
from relay.wire import long_strings

LARGEST_BYTES = 64 * 1024 * 1024
MEMORY_BYTES = 1024 * 1024
PIECE_BYTES = 256 * 1024
ROOM_SECONDS = 0.05


class KeptAnswer:
    """An answer's bytes; its owner closes it."""

    def __init__(self, payer: Hashable) -> None:
        self._file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115
        self._room = Room(payer)
        self.size = 0

    def close(self) -> None:
        self._file.close()
        self._room.release()

    async def take(self, piece: bytes) -> None:
        """Appends a piece. Waits, and the upstream with it, until there is room."""
        self.size += len(piece)
        if self.size > LARGEST_BYTES:
            raise UpstreamError(ErrorKind.AMBIGUOUS, f"the answer is larger than {LARGEST_BYTES} bytes", code="size")
        while not self._room.insist(len(piece)):
            await asyncio.sleep(ROOM_SECONDS)
        self._file.write(piece)

    def read(self, most: int = -1) -> bytes:
        """Returns up to `most` bytes from the beginning."""
        self._file.seek(0)
        return self._file.read(most)

    def lines(self) -> Iterator[bytes]:
        self._file.seek(0)
        return iter(self._file)

    def replace(self, others: bytes) -> None:
        """Replaces the bytes."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(others)
        self.size = len(others)

    def document(self) -> Any:
        """Returns the parsed answer without its pictures; None if it is not JSON."""
        if self.size <= MEMORY_BYTES:
            return error_kinds.parsed(self.read())
        self._file.flush()  # flushed, or its end would be missing in the map
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return error_kinds.parsed(long_strings.shorten(mapped))

    async def send(self, send: Send, headers: Headers) -> None:
        """Sends the answer; a slow client holds no thread."""
        own = ((b"content-type", b"application/json"), (b"content-length", str(self.size).encode()))
        await send({"type": "http.response.start", "status": 200, "headers": [*own, *headers]})
        self._file.seek(0)
        is_on_disk, left = self.size > MEMORY_BYTES, self.size
        while left > PIECE_BYTES:
            piece = await threads.compute(self._file.read, PIECE_BYTES) if is_on_disk else self._file.read(PIECE_BYTES)
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": self._file.read()})
