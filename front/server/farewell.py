"""The last of a connection: our last words, then nothing of what still comes is read for long.

A connection that is closed over unread bytes is reset, and a client may lose the answer with it.
"""

import asyncio

from common.http import front_body
from front.server.places import Places


class Farewell(asyncio.Protocol):
    """Takes the connection over, which has no place any more. `after` is told when it is lost."""

    def __init__(
        self, transport: asyncio.Transport, words: bytes, *, places: Places, after: asyncio.Protocol | None = None
    ) -> None:
        self._transport = transport
        self._places = places
        self._after = after
        self._left = front_body.DRAIN_BYTES
        places.parts(self)
        transport.set_protocol(self)
        try:
            transport.write(words)
            transport.write_eof()
        except OSError:  # the client has reset the connection meanwhile
            transport.abort()

    def hang_up(self) -> None:
        self._transport.abort()

    def unsent(self) -> int:
        return self._transport.get_write_buffer_size()

    def data_received(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left <= 0:
            self.hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._places.gone(self)
        if self._after:
            self._after.connection_lost(exc)
