"""Upstreams that do what a test says, on real sockets of the test's own event loop."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from tools.children import PATIENCE


@dataclass
class Talk:
    """One connection to an upstream."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def request(self) -> bytes:
        """The head of the next request and its body; empty where the other side has left."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        lines = head.lower().split(b"\r\n")
        length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)
        return head + await self.reader.readexactly(length)

    async def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def event(self, document: dict[str, Any] | str) -> None:
        """One event of a chunked stream."""
        text = document if isinstance(document, str) else json.dumps(document)
        await self.say(chunk(f"data: {text}\n\n".encode()))

    async def gone(self) -> None:
        """Returns once the other side has closed the connection."""
        with suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while await self.reader.read(65536):
                    pass

    def reset(self) -> None:
        self.writer.transport.abort()


Behaviour = Callable[[Talk], Awaitable[object]]


@dataclass
class Upstream:
    """What it has heard. `connections` are all that were ever opened."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in self.requests]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"


def head(status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


STREAM = head(content_type="text/event-stream", transfer_encoding="chunked")


def answers(body: Any, status: str = "200 OK", **headers: str) -> Behaviour:
    """A plain whole answer; a document as JSON."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    own = {"content_type": "application/json", "content_length": str(len(sent)), **headers}

    async def behave(talk: Talk) -> None:
        await talk.say(head(status, **own), sent)

    return behave


def streams(*events: dict[str, Any] | str) -> Behaviour:
    """A stream of these events, and its end."""

    async def behave(talk: Talk) -> None:
        await talk.say(STREAM)
        for event in events:
            await talk.event(event)
        await talk.say(LAST_CHUNK)

    return behave


@asynccontextmanager
async def upstream(*behaviours: Behaviour) -> AsyncIterator[Upstream]:
    """One behaviour for each request, the last one for all that follow."""
    heard, waiting = Upstream(), list(behaviours)
    talks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.connections += 1
        talk = Talk(reader, writer)
        talks.add(asyncio.current_task())
        try:
            while request := await talk.request():
                heard.requests.append(request)
                behave = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                await behave(talk)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    heard.port = server.sockets[0].getsockname()[1]
    try:
        yield heard
    finally:
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
