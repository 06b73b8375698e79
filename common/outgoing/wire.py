"""One HTTP exchange over connections that a Dialer opens: without redirects, proxies or cookies.

Shared by the outbound door, which judges addresses, and the adapters, whose base URLs are the operator's own. What may
buy something goes over a fresh connection, once. What buys nothing may go over a kept one
(`common/outgoing/kept_connections.py`), and once more over a fresh one where the kept one proves closed.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from time import monotonic
from typing import Any, cast
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import Timeout
from urllib3.exceptions import HTTPError

from common.outgoing import fault_words
from common.outgoing.connections import PlainConnection, TlsConnection
from common.outgoing.dial import Deadline, Dialer
from common.outgoing.faults import Failed
from common.outgoing.kept_connections import Origin, kept

# It warns of odd headers with a traceback, and quotes them and the path, which may hold a secret.
logging.getLogger("urllib3.connection").setLevel(logging.ERROR)

logger = logging.getLogger(__name__)

CHUNK_BYTES = 64 * 1024
HEADERS = {"User-Agent": "darkroom", "Accept": "*/*", "Accept-Encoding": "identity"}
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request. A body of chunks must know its length (`__len__`), else it is sent chunked."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | Iterable[bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer; header names are case-insensitive. `chunks`: the raw body, never decoded; raises Failed. `deadline` is
    that of the whole exchange, for whoever works on the chunks."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]
    deadline: Deadline


@contextmanager
def exchange(message: Message, dialer: Dialer, *, max_bytes: int) -> Iterator[Reply]:
    """Send one request and read its answer under the dialer's deadline. Raises AddressRefused or Failed."""
    line = ExchangeLine(dialer)
    try:
        response = _send(message, line)
        logger.debug("answered %d", response.status_code)
        try:
            if _declared_bytes(response) > max_bytes:
                raise Failed(f"the answer is larger than {max_bytes} bytes", reason="size", was_sent=True)
            chunks, deadline = _chunks(response, line, max_bytes), dialer.deadline
            yield Reply(status=response.status_code, headers=response.headers, chunks=chunks, deadline=deadline)
        finally:
            response.raw.close()
    finally:
        line.leave()


def _send(message: Message, line: "ExchangeLine") -> "Answered":
    habit = "close" if line.dialer.circle is None else "keep-alive"
    try:
        request = requests.PreparedRequest()
        request.prepare_method(message.method)
        request.prepare_url(message.url, None)
        request.prepare_headers({**HEADERS, **message.headers, "Connection": habit})
        request.prepare_body(message.body, None)
        request.line = line  # type: ignore[attr-defined]
        return cast("Answered", WIRE.send(request, stream=True, timeout=max(line.dialer.deadline.remaining, 0.001)))
    except (OSError, ValueError, HTTPError, HTTPException) as error:  # requests' own are OSErrors
        raise _failure(error, line.dialer) from error


def _chunks(response: "Answered", line: "ExchangeLine", max_bytes: int) -> Iterator[bytes]:
    deadline = line.dialer.deadline
    try:
        yield from bounded(response.raw.stream(CHUNK_BYTES, decode_content=False), max_bytes, deadline)
        line.is_whole = True
    except (OSError, ValueError, HTTPError, HTTPException) as error:
        raise _failure(error, line.dialer) from error


def bounded(chunks: Iterable[bytes], max_bytes: int, deadline: Deadline) -> Iterator[bytes]:
    """The chunks of a body that come in time, as long as it is not larger. What a shut socket has buffered is given up,
    and a body without a length ends silently when it is shut. Raises Failed."""
    read = 0
    for chunk in chunks:
        _insist_on_time(deadline)
        read += len(chunk)
        if read > max_bytes:
            raise Failed(f"the answer is larger than {max_bytes} bytes", reason="size", was_sent=True)
        yield chunk
    _insist_on_time(deadline)


def _insist_on_time(deadline: Deadline) -> None:
    if deadline.is_over:
        raise Failed("the answer took too long", reason="time", was_sent=True)


def _failure(error: Exception, dialer: Dialer) -> Failed:
    # The innermost exception is the socket's or the parser's. Others, a ValueError above all, quote headers.
    cause: BaseException = error
    while inner := cause.__cause__ or cause.__context__:
        cause = inner
    is_late = dialer.deadline.is_over or isinstance(error, requests.Timeout) or isinstance(cause, TimeoutError)
    is_network = isinstance(cause, OSError) and not isinstance(cause, requests.RequestException)
    detail = f"{type(cause).__name__}: {cause}" if is_network else type(cause).__name__
    return Failed(
        fault_words.of_fault(cause, is_late=is_late, was_sent=dialer.has_connected),
        detail=detail[:300],
        reason="time" if is_late else "network",
        was_sent=dialer.has_connected,
    )


def _declared_bytes(response: "Answered") -> int:
    declared = response.headers.get("Content-Length", "")
    return int(declared) if declared.isascii() and declared.isdigit() and len(declared) < 20 else 0


class ExchangeLine:
    """The way of one exchange to its server, over a kept connection or a fresh one. For requests it is a pool."""

    def __init__(self, dialer: Dialer) -> None:
        self.dialer = dialer
        self.is_whole = False  # once the answer was read to its end
        self._connection: PlainConnection | None = None
        self.origin: Origin = (None, "", "", 0)
        self._dialled_at = 0.0

    def urlopen(
        self, *, method: str, url: str, body: Any, headers: Mapping[str, str], timeout: Timeout, **_: object
    ) -> Any:
        """Ask for `url`, a path here, and return urllib3's answer. What may go over a kept connection buys nothing, and
        is asked for once more where nothing came over that."""
        ask = partial(PlainConnection.ask, method=method, target=url, headers=headers, body=body, timeout=timeout)
        is_repeatable = self.dialer.circle is not None and isinstance(body, bytes | None)
        if is_repeatable and (idle := kept.take(self.origin)):
            self._connection, self._dialled_at = idle.connection, idle.dialled_at
            idle.connection.lend(self.dialer)
            if answer := self._over_kept(idle.connection, ask):
                return answer
            idle.connection.retire()
        return ask(self._dial())

    def leave(self) -> None:
        """Keep the connection for others, or close it."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self.dialer.circle is not None and self.is_whole and connection.give_back():
            kept.give(self.origin, connection, dialled_at=self._dialled_at)
        else:
            connection.retire()

    def _dial(self) -> PlainConnection:
        _, scheme, host, port = self.origin
        self.dialer.has_connected = False
        self._connection = (TlsConnection if scheme == "https" else PlainConnection)(host, port, self.dialer)
        self._dialled_at = monotonic()
        self._connection.connect()
        self.dialer.has_connected = True
        return self._connection

    def _over_kept(self, connection: PlainConnection, ask: Callable[[PlainConnection], Any]) -> Any:
        """None where the server has closed the connection meanwhile, as far as can be told."""
        try:
            return ask(connection)
        except OSError as error:
            if connection.has_heard or self.dialer.deadline.is_over or isinstance(error, TimeoutError):
                raise
            return None


@dataclass(slots=True, kw_only=True)
class Answered:
    """What requests and its tests ask of an answer."""

    status_code: int
    headers: Mapping[str, str]
    raw: Any
    request: requests.PreparedRequest
    url: str | None


class LineAdapter(HTTPAdapter):
    """Sends each request over the line that it brings along."""

    def get_connection_with_tls_context(self, request: Any, *_: object, **__: object) -> Any:
        line, parts = request.line, urlsplit(request.url)
        line.origin = (line.dialer.circle, parts.scheme, parts.hostname or "", parts.port or PORTS[parts.scheme])
        return line

    def cert_verify(self, *_: object) -> None:
        """The context of the line's connection does."""

    def request_url(self, request: requests.PreparedRequest, proxies: object) -> str:
        return request.path_url

    def build_response(self, req: requests.PreparedRequest, resp: Any) -> Any:
        """Without cookies."""
        headers = CaseInsensitiveDict(resp.headers)
        return Answered(status_code=resp.status, headers=headers, raw=resp, request=req, url=req.url)


WIRE = LineAdapter(max_retries=0)
