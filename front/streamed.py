"""Answers that Django makes while they are sent: of a statement of a million lines there is one piece in memory.

A piece is made on a thread, which is free again while it is sent. So neither a long answer nor a slow reader holds a
thread or a database connection, and each piece has the database for ten seconds of its own.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from common.concurrency import threads
from common.http.asgi import Answer, Receive, Send, disconnected

PIECE_BYTES = 64 * 1024


class BodyPieces:
    """The body of a streaming response of Django's. Whoever has read the last piece, or wants no more, closes it."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._chunks: Iterator[bytes] = iter(response)
        self.is_over = False

    def read(self) -> bytes:
        """The next PIECE_BYTES, or a little more; all that is left where that is less."""
        piece = bytearray()
        for chunk in self._chunks:
            piece += chunk
            if len(piece) >= PIECE_BYTES:
                return bytes(piece)
        self.is_over = True
        return bytes(piece)

    def close(self) -> None:
        self._response.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedAnswer(Answer):
    """A response whose `body` is its first piece: a fault before that is an answer of its own."""

    pieces: BodyPieces

    async def stream(self, receive: Receive, send: Send, *, is_head: bool) -> None:
        """Send piece by piece, until the end or until the client has left. What is raised on the way leaves the
        response without its end, so that the server cuts the connection and the client sees it."""
        leaving = asyncio.ensure_future(disconnected(receive))
        try:
            await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers)})
            piece = self.body
            while not (is_head or self.pieces.is_over):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                if leaving.done():
                    return
                piece = await threads.compute(threads.returning_connection, self.pieces.read)
            await send({"type": "http.response.body", "body": piece})
        finally:
            leaving.cancel()
            threads.executor.submit(threads.returning_connection, self.pieces.close)
