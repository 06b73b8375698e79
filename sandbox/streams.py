"""Sends answers while they are made: each piece is a chunk, sent before the next is made."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from sandbox.wire import ClientReader, ConnectionCut, Cut, Response, cut, encoded_head


class Broken(Exception):
    """Raised in place of a piece: the connection breaks there."""

    def __init__(self, kind: Cut) -> None:
        super().__init__(kind)
        self.kind = kind


async def send_pieces(
    response: Response, pieces: AsyncGenerator[bytes], reader: ClientReader, writer: asyncio.StreamWriter
) -> None:
    """Writes pieces as they come. If the client leaves, their source is closed at once. Raises ConnectionCut."""
    sending = asyncio.ensure_future(deliver(response, pieces, writer))
    leaving = asyncio.ensure_future(reader.gone.wait())
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            raise ConnectionCut
        sending.result()
    except Broken as broken:
        await cut(broken.kind, reader, writer)
    finally:
        sending.cancel()
        leaving.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)


async def deliver(response: Response, pieces: AsyncGenerator[bytes], writer: asyncio.StreamWriter) -> None:
    """Sends the head with the first piece. Raises Broken, OSError."""
    head = encoded_head(response)
    async with aclosing(pieces):
        async for piece in pieces:
            writer.write(b"%s%x\r\n%s\r\n" % (head, len(piece), piece))
            head = b""
            await writer.drain()
    writer.write(head + b"0\r\n\r\n")
    await writer.drain()
