"""Upstreams that do what a test says, on real sockets of the test's own event loop."""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

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

    async def outlasts(self, step: float = 5.0) -> None:
        """Time flies, step by step, until the other side has closed the connection."""
        while not self.reader.at_eof():
            hurry(step)
            await asyncio.sleep(0.001)

    def reset(self) -> None:
        self.writer.transport.abort()


Behaviour = Callable[[Talk], Awaitable[object]]


class Upstream:
    """One behaviour for each request, the last one for all that follow. It has its address from the beginning, and
    listens while it is entered. `requests` are what it has heard, `connections` all that were ever opened."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self._waiting = list(behaviours)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._talks: set[asyncio.Task[None]] = set()
        self.port = self._socket.getsockname()[1]
        self.requests: list[bytes] = []
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def calls(self) -> list[bytes]:
        """The requests that would buy something, without the probes."""
        return [request for request in self.requests if request.startswith(b"POST ")]

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in self.requests]

    async def __aenter__(self) -> Self:
        if self._socket.fileno() < 0:  # it has listened before
            self._socket = socket.create_server(("127.0.0.1", self.port))
        self._server = await asyncio.start_server(self._serve, sock=self._socket)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._talks:
            task.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        self._talks.clear()

    def behaves(self, *behaviours: Behaviour) -> None:
        """From the next request on."""
        self._waiting = list(behaviours)

    def close(self) -> None:
        """Nobody listens at its address."""
        self._socket.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        talk = Talk(reader, writer)
        self._talks.add(asyncio.current_task())
        try:
            while request := await talk.request():
                self.requests.append(request)
                behave = self._waiting.pop(0) if len(self._waiting) > 1 else self._waiting[0]
                await behave(talk)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()


def upstream(*behaviours: Behaviour) -> Upstream:
    """To be entered at once."""
    return Upstream(*behaviours)


def hurry(seconds: float) -> None:
    """So many seconds pass at once for everything that waits on this event loop."""
    loop = asyncio.get_running_loop()
    passed = getattr(loop.time, "passed", 0.0) + seconds

    def later() -> float:
        return time.monotonic() + passed

    later.passed = passed
    loop.time = later


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
