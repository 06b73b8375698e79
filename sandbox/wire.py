"""HTTP/1.1 on asyncio streams: just enough to serve a protocol, and to break it in the ways that providers do."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

MAX_HEAD_BYTES = 256 * 1024
MAX_BODY_BYTES = 512 * 1024 * 1024
DRIPS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request with its whole body; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def origin(self) -> str:
        """Returns scheme and host as the client names us."""
        return f"http://{self.headers.get('host', 'localhost')}"

    @property
    def bearer(self) -> str:
        """Returns the token of `Authorization: Bearer`, or an empty string."""
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""


class ClientReader(asyncio.StreamReader):
    """Reader of a client's bytes; `gone` is set once it sends no more, even while nobody reads."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(limit=limit)
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.gone.set()


class Cut(StrEnum):
    """Ways in which an answer may end too early."""

    RESET = "reset"  # TCP RST
    HANG = "hang"  # silence until the client gives up


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer. With a cut, only the head and the first `share` of the body are sent before it, or nothing if 0. With
    `is_held`, it is sent once the provider is told to release it. `pieces` replace the body of an answer made while it
    is sent (sandbox/streams.py)."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: Cut | None = None
    share: float = 0.0
    drip_seconds: float = 0.0
    is_held: bool = False
    pieces: AsyncGenerator[bytes] | None = None


Endpoint = tuple[str, str, Callable[..., Awaitable[Response]]]
"""Method, path pattern, and the handler, which gets the request and the pattern's groups."""


class Refusal(Exception):
    """Ends the handling of a request with this answer."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


class BrokenRequest(Exception):
    """Bytes that are no acceptable HTTP request: the status to answer before closing."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ConnectionCut(Exception):
    """The connection is over, because a fault was asked for."""


def json_response(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Returns any JSON value as an answer."""
    return Response(status=status, body=json.dumps(content).encode(), headers=headers or {})


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
    """Returns the next request of a connection, or None at its end. Raises BrokenRequest."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise BrokenRequest(431) from error
    except asyncio.IncompleteReadError:
        return None
    first_line, *lines = head.decode("latin-1").split("\r\n")[:-2]
    words = first_line.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BrokenRequest(400)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        target = urlsplit(words[1])
    except ValueError as error:
        raise BrokenRequest(400) from error
    return Request(
        method=words[0],
        path=unquote(target.path),
        query=parse_qs(target.query, keep_blank_values=True),
        headers=headers,
        body=await read_body(reader, headers),
    )


async def read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    """Returns the body, by its length or in chunks. Raises BrokenRequest."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await read_chunks(reader)
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        raise BrokenRequest(400)
    if len(length) > len(str(MAX_BODY_BYTES)) or int(length) > MAX_BODY_BYTES:
        raise BrokenRequest(413)
    return await reader.readexactly(int(length))


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    """Returns a chunked body without its trailers. Raises BrokenRequest."""
    body = bytearray()
    try:
        while size := int((await reader.readline()).partition(b";")[0], 16):
            if not 0 < size <= MAX_BODY_BYTES - len(body):
                raise BrokenRequest(413)
            body += (await reader.readexactly(size + 2))[:-2]
        while (await reader.readline()).strip():
            pass
    except ValueError as error:  # no number, or an endless line
        raise BrokenRequest(400) from error
    return bytes(body)


async def send(
    response: Response, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, bodiless: bool
) -> None:
    """Writes the answer; `bodiless` for HEAD. Raises ConnectionCut if the answer is cut."""
    if response.cut is None or response.share > 0:
        writer.write(encoded_head(response))
    body = b"" if bodiless else response.body
    if response.cut:
        writer.write(body[: int(len(body) * response.share)])
        await writer.drain()
        await cut(response.cut, reader, writer)
    elif response.drip_seconds:
        step = max(1, -(-len(body) // DRIPS))
        for start in range(0, len(body), step):
            await asyncio.sleep(response.drip_seconds / DRIPS)
            writer.write(body[start : start + step])
            await writer.drain()
    else:
        writer.write(body)
        await writer.drain()


def encoded_head(response: Response) -> bytes:
    """Returns status line and headers."""
    framing = "transfer-encoding: chunked" if response.pieces else f"content-length: {len(response.body)}"
    lines = [f"HTTP/1.1 {response.status} {phrase(response.status)}", framing]
    if response.body or response.pieces:
        lines.append(f"content-type: {response.content_type}")
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def phrase(status: int) -> str:
    """Returns the usual phrase for a status, even an unusual one."""
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"


async def cut(kind: Cut, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Resets the connection, or stays silent until the client is gone. Always raises ConnectionCut."""
    if kind is Cut.HANG:
        while await reader.read(65_536):
            pass
    else:
        # A linger time of zero makes close() send RST instead of FIN.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    raise ConnectionCut
