"""HTTP to upstreams: one aiohttp session for each event loop, whose connections are kept for a moment.

A request is sent once: no redirects, retries, proxies or cookies. Every failure is an UpstreamError that says whether
the provider may have accepted the request. `relay/calls/in_flight.py` bounds the concurrent calls.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from yarl import URL

from adapters.base import ErrorKind, UpstreamError
from relay.wire import inflating
from relay.wire.resolving import OperatorsNames

# Shorter than servers' own: a request on a connection that its server is closing is lost without a known outcome.
KEPT_SECONDS = 3.0
PIECE_BYTES = 256 * 1024
READ_BYTES = 64 * 1024  # read-ahead for a slow client; aiohttp reads up to twice as much
# Bytes read without use so that a connection can be kept.
TAIL_BYTES = 64 * 1024
TAIL_SECONDS = 1.0
# Compressed answers are inflated (`relay/wire/inflating.py`).
OWN_HEADERS = {"accept-encoding": "identity", "user-agent": "darkroom"}
NO_HEADERS = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")
FAULTS = (aiohttp.ClientError, OSError, TimeoutError, ValueError, RuntimeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A POST to a quoted URL. `connect_seconds` cover name lookup, connection and TLS; `on_sent` is called before the
    first byte, before which an upstream cannot have accepted anything."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    connect_seconds: float
    on_sent: Callable[[], None] = lambda: None


class UpstreamReply:
    """An answer whose head has arrived; its owner closes it."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self._unread = b""
        self._read: Callable[[], Awaitable[bytes]] = self._plain
        if inflating.is_compressed(coding := response.headers.get("Content-Encoding", "")):
            self._read = inflating.Inflated(coding, self._plain).read

    async def read(self) -> bytes:
        """Returns at least a byte; empty at the end. Raises UpstreamError (AMBIGUOUS) if the answer breaks off."""
        if self._unread:
            piece, self._unread = self._unread, b""
            return piece
        try:
            return await self._read()
        except (*FAULTS, inflating.BadCompression) as error:
            self.close()
            raise fault(error, was_sent=True) from error

    def put_back(self, piece: bytes) -> None:
        """Puts a piece back, to be read next."""
        self._unread = piece

    async def _plain(self) -> bytes:
        return await self._response.content.readany()

    async def finish(self) -> None:
        """Ends reading: keeps the connection if the answer ends now, else closes it."""
        left = TAIL_BYTES
        with suppress(TimeoutError, UpstreamError):
            async with asyncio.timeout(TAIL_SECONDS):
                while left > 0 and (piece := await self.read()):
                    left -= len(piece)
        self.close()

    def close(self) -> None:
        """Closes the connection at once, so that the upstream stops, unless the answer was read to its end."""
        connection = self._response.connection
        if connection is not None and connection.protocol is not None:
            connection.protocol.abort()
        self._response.close()


async def post(outgoing: Outgoing) -> UpstreamReply:
    """Returns the answer as soon as its head has arrived. Raises UpstreamError: TRANSIENT if certainly nothing was
    accepted, else AMBIGUOUS."""
    body = _Body(outgoing.body, outgoing.on_sent)
    timeout = aiohttp.ClientTimeout(total=None, connect=outgoing.connect_seconds)
    headers = {**OWN_HEADERS, **outgoing.headers}
    try:
        url = URL(outgoing.url, encoded=True)
        response = await _session().post(url, data=body, headers=headers, timeout=timeout, allow_redirects=False)
    except FAULTS as error:
        raise fault(error, was_sent=body.has_begun) from error
    return _reply(response)


async def get(url: str, headers: Mapping[str, str]) -> UpstreamReply:
    """Returns the answer to a free request as soon as its head has arrived; the caller bounds the time. Raises
    UpstreamError."""
    headers = {**OWN_HEADERS, **headers}
    timeout = aiohttp.ClientTimeout(total=None)
    try:
        response = await _session().get(URL(url, encoded=True), headers=headers, timeout=timeout, allow_redirects=False)
    except FAULTS as error:
        raise fault(error, was_sent=False) from error
    return _reply(response)


def _reply(response: aiohttp.ClientResponse) -> UpstreamReply:
    try:
        return UpstreamReply(response)
    except inflating.BadCompression as error:
        response.close()
        raise fault(error, was_sent=True) from error


def fault(error: Exception, *, was_sent: bool) -> UpstreamError:
    """Classifies a failed exchange. The text of a ValueError is dropped: it may quote a credential."""
    is_late = isinstance(error, TimeoutError)
    detail = f": {error}" if isinstance(error, OSError | inflating.BadCompression) else ""
    kind = ErrorKind.AMBIGUOUS if was_sent else ErrorKind.TRANSIENT
    return UpstreamError(kind, f"{type(error).__name__}{detail}"[:300], code="time" if is_late else "network")


class _Body(aiohttp.Payload):
    """Sends the body in pieces, so that nothing waits long for it, and reports the first; the head goes with it."""

    def __init__(self, value: bytes, on_sent: Callable[[], None]) -> None:
        super().__init__(value, content_type="application/json")
        self._size = len(value)
        self._on_sent = on_sent
        self.has_begun = False

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return str(self._value, encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        self.has_begun = True
        self._on_sent()
        view = memoryview(self._value)
        for start in range(0, len(view), PIECE_BYTES):
            await writer.write(view[start : start + PIECE_BYTES])


_sessions: "WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession]" = WeakKeyDictionary()


def _session() -> aiohttp.ClientSession:
    loop = asyncio.get_running_loop()
    session = _sessions.get(loop)
    if session is None:
        session = _sessions[loop] = aiohttp.ClientSession(**_habits())
    return session


def _habits() -> dict[str, Any]:
    connector = aiohttp.TCPConnector(
        limit=0,
        keepalive_timeout=KEPT_SECONDS,
        resolver=OperatorsNames(),
    )
    return {
        "connector": connector,
        "cookie_jar": aiohttp.DummyCookieJar(),
        "auto_decompress": False,
        "trust_env": False,
        "skip_auto_headers": NO_HEADERS,
        "read_bufsize": READ_BYTES,
    }


async def close() -> None:
    """Closes the connections of this event loop."""
    session = _sessions.pop(asyncio.get_running_loop(), None)
    if session is not None:
        await session.close()
