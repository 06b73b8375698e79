"""The last of a connection: our last words, then nothing of what still comes is read for long.

A connection that is closed over unread bytes is reset, and a client may lose the answer with it.
"""

import asyncio

from common import front_body


class Farewell(asyncio.Protocol):
    """Takes the connection over. `after` is told when it is lost."""

    def __init__(self, transport: asyncio.Transport, words: bytes, *, after: asyncio.Protocol | None) -> None:
        self._transport = transport
        self._after = after
        self._left = front_body.DRAIN_BYTES
        self._timer = asyncio.get_running_loop().call_later(front_body.DRAIN_SECONDS, transport.abort)
        transport.set_protocol(self)
        transport.write(words)
        transport.write_eof()

    def data_received(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left <= 0:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        if self._after:
            self._after.connection_lost(exc)
