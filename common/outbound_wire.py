"""One HTTP exchange over connections that a Dialer opens: fresh, without retries, redirects, proxies or cookies.

Shared by the outbound door, which judges addresses, and the adapters, whose base URLs are the operator's own.
"""

import logging
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from http.client import HTTPException
from socket import socket
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import HTTPConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from common import outbound_words
from common.deadline import Deadline
from common.outbound_dial import Dialer
from common.outbound_faults import Failed
from common.outbound_head import FinalResponse

# It warns of odd headers with a traceback, and quotes them and the path, which may hold a secret.
logging.getLogger("urllib3.connection").setLevel(logging.ERROR)

CHUNK_BYTES = 64 * 1024
HEADERS = {"User-Agent": "darkroom", "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}


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
    with PlainSession() as session:
        session.trust_env = False
        session.headers.update(HEADERS)
        session.mount("http://", DialingAdapter(dialer))
        session.mount("https://", DialingAdapter(dialer))
        response = _send(message, session, dialer)
        try:
            if _declared_bytes(response) > max_bytes:
                raise Failed(f"the answer is larger than {max_bytes} bytes", reason="size", was_sent=True)
            chunks, deadline = _chunks(response, dialer, max_bytes), dialer.deadline
            yield Reply(status=response.status_code, headers=response.headers, chunks=chunks, deadline=deadline)
        finally:
            response.close()


def _send(message: Message, session: requests.Session, dialer: Dialer) -> requests.Response:
    try:
        return session.request(
            message.method,
            message.url,
            headers=dict(message.headers),
            data=message.body,
            allow_redirects=False,
            stream=True,
            timeout=max(dialer.deadline.remaining, 0.001),
        )
    except (OSError, ValueError, HTTPError, HTTPException) as error:  # requests' own are OSErrors
        raise _failure(error, dialer) from error


def _chunks(response: requests.Response, dialer: Dialer, max_bytes: int) -> Iterator[bytes]:
    try:
        yield from punctual(capped(response.raw.stream(CHUNK_BYTES, decode_content=False), max_bytes), dialer.deadline)
    except (OSError, ValueError, HTTPError, HTTPException) as error:
        raise _failure(error, dialer) from error


def punctual(chunks: Iterable[bytes], deadline: Deadline) -> Iterator[bytes]:
    """The chunks of a body that come in time. What a shut socket has buffered is given up, and a body without a length
    ends silently when it is shut. Raises Failed."""
    for chunk in chunks:
        _insist_on_time(deadline)
        yield chunk
    _insist_on_time(deadline)


def _insist_on_time(deadline: Deadline) -> None:
    if deadline.is_over:
        raise Failed("the answer took too long", reason="time", was_sent=True)


def capped(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """The chunks of a body, as long as it is not larger. Raises Failed."""
    read = 0
    for chunk in chunks:
        read += len(chunk)
        if read > max_bytes:
            raise Failed(f"the answer is larger than {max_bytes} bytes", reason="size", was_sent=True)
        yield chunk


def _failure(error: Exception, dialer: Dialer) -> Failed:
    # The innermost exception is the socket's or the parser's. Others, a ValueError above all, quote headers.
    cause: BaseException = error
    while inner := cause.__cause__ or cause.__context__:
        cause = inner
    is_late = dialer.deadline.is_over or isinstance(error, requests.Timeout) or isinstance(cause, TimeoutError)
    is_network = isinstance(cause, OSError) and not isinstance(cause, requests.RequestException)
    detail = f"{type(cause).__name__}: {cause}" if is_network else type(cause).__name__
    return Failed(
        outbound_words.of_fault(cause, is_late=is_late, was_sent=dialer.has_connected),
        detail=detail[:300],
        reason="time" if is_late else "network",
        was_sent=dialer.has_connected,
    )


def _declared_bytes(response: requests.Response) -> int:
    declared = response.headers.get("Content-Length", "")
    return int(declared) if declared.isascii() and declared.isdigit() and len(declared) < 20 else 0


@cache
def tls_context() -> ssl.SSLContext:
    """Public authorities, and those that the system or SSL_CERT_FILE adds; loading them is slow, so once."""
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.load_default_certs()
    return context


class PlainSession(requests.Session):
    """A session for which no answer is a redirect: even unfollowed ones it would parse, and read without a cap."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


class DialingAdapter(HTTPAdapter):
    """Sends over the dialer's connections. URL, Host, SNI and certificate check stay with the name."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        super().__init__(max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: Any) -> None:
        self.poolmanager = DialingPools(self._dialer, num_pools=connections, maxsize=maxsize, block=block)

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[Any, Any]:
        host, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return host, {"ssl_context": tls_context()} if host["scheme"] == "https" else {}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        conn.cert_reqs = "CERT_REQUIRED"  # by the authorities of tls_context, already loaded


class DialingPools(PoolManager):
    def __init__(self, dialer: Dialer, **options: Any) -> None:
        self._dialer = dialer
        super().__init__(**options)

    def _new_pool(
        self, scheme: str, host: str, port: int, request_context: dict[str, Any] | None = None
    ) -> HTTPConnectionPool:
        pool = super()._new_pool(scheme, host, port, request_context)
        connection = TlsConnection if scheme == "https" else PlainConnection
        pool.ConnectionCls = partial(connection, dialer=self._dialer)  # type: ignore[assignment]
        return pool


class PlainConnection(HTTPConnection):
    response_class = FinalResponse

    def __init__(self, *arguments: Any, dialer: Dialer, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._dialer = dialer

    def _new_conn(self) -> socket:
        return self._dialer.dial(self.host.strip("[]"), self.port)

    def connect(self) -> None:
        super().connect()
        self._dialer.has_connected = True

    def getresponse(self) -> Any:
        """Raises TimeoutError: the standard library takes the end of the connection for the end of the head, and so it
        does where the deadline has shut the socket."""
        response = super().getresponse()
        if self._dialer.deadline.is_over:
            response.close()
            raise TimeoutError("the head took too long")
        return response


class TlsConnection(PlainConnection, HTTPSConnection):
    """`connect` and the rest of HTTPS come from HTTPSConnection, the socket from the dialer."""
