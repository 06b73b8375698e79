"""Connections that a Dialer opens, speaking HTTP/1.1: plain or TLS, and whether one may carry another exchange.

What an answer may hold beside its body is capped: interim answers, a head, lines around chunks, a trailer. The standard
library caps one line and the number of headers, but neither how many interim answers come before the head, nor what
stands around the chunks of a body.
"""

import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from http.client import CONTINUE, SWITCHING_PROTOCOLS, HTTPException, HTTPResponse
from io import BufferedReader
from socket import socket
from typing import Any

from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection

from common.outgoing.dial import Dialer

MAX_HEAD_BYTES = 64 * 1024
MAX_INTERIMS = 10
LINE_BYTES_PER_BYTE = 16  # what a body of chunks of one byte needs for their lengths, generously


@cache
def tls_context() -> ssl.SSLContext:
    """Public authorities, and those that the system or SSL_CERT_FILE adds; loading them is slow, so once."""
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.load_default_certs()
    return context


class Lines(BufferedReader):
    """The bytes of an answer. Lines are its head, the lengths and extensions of its chunks, and its trailer: they are
    counted, in one run and in relation to the body. Raises HTTPException."""

    _run = _lines = _body = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(-1 if size is None else size)
        self._run += len(line)
        self._lines += len(line)
        if max(self._run, self._lines - LINE_BYTES_PER_BYTE * self._body) > MAX_HEAD_BYTES:
            raise HTTPException(f"more than {MAX_HEAD_BYTES} bytes beside the body")
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self._body += len(data)
        self._run = 0
        return data

    @property
    def has_begun(self) -> bool:
        return self._lines > 0


class FinalResponse(HTTPResponse):
    """Skips the interim answers (100, 102, 103), the first ten; the standard library skips `100 Continue` only, and as
    many as come. A 101 is an answer like any other: nobody asked for another protocol."""

    def __init__(self, sock: socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._sock = sock
        self._interims = 0
        self._lines = Lines(self.fp.detach())
        self.fp = self._lines
        self.has_surplus = False

    @property
    def has_begun(self) -> bool:
        """Whether the answer's first line came."""
        return self._lines.has_begun

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]
        if status >= 200 or status == SWITCHING_PROTOCOLS:
            return version, status, reason
        self._interims += 1
        if self._interims > MAX_INTERIMS:
            raise HTTPException(f"more than {MAX_INTERIMS} interim answers")
        return version, CONTINUE, reason

    def _close_conn(self) -> None:
        self.has_surplus = self.has_surplus or (not self.will_close and self._is_more_there())
        super()._close_conn()  # type: ignore[misc]

    def _is_more_there(self) -> bool:
        """Whether bytes came that are no part of the answer, or the other side has closed: found without waiting."""
        self._sock.settimeout(0)
        try:
            return bool(self._lines.peek(1))
        except ssl.SSLWantReadError:
            return False
        except (OSError, ValueError):
            return True


class PlainConnection(HTTPConnection):
    """URL, Host, SNI and certificate check stay with the name; the socket is the dialer's."""

    def __init__(self, host: str, port: int, dialer: Dialer, **options: Any) -> None:
        super().__init__(host, port, **options)
        self.response_class = self._answer  # type: ignore[assignment]
        self._dialer = dialer
        self._twin: socket | None = None
        self._heard: FinalResponse | None = None

    def lend(self, dialer: Dialer) -> None:
        """Let this open connection carry one more exchange, under its deadline."""
        self._dialer, self._heard = dialer, None
        self.timeout = dialer.connect_share
        dialer.has_connected = True
        if self._twin is not None:
            dialer.deadline.watch(self._twin)

    def give_back(self) -> bool:
        """After an answer that was read whole: the exchange's deadline holds no more. True where the connection may
        carry another exchange: both sides leave it open, and nothing came after the answer."""
        if self._twin is not None:
            self._dialer.deadline.release(self._twin)
        heard = self._heard
        is_idle = heard is not None and heard.isclosed() and not (heard.will_close or heard.has_surplus)
        return is_idle and self.sock is not None and not self._dialer.deadline.is_over

    def retire(self) -> None:
        """Close it for good."""
        if self._twin is not None:
            self._dialer.deadline.release(self._twin)
            self._twin.close()
            self._twin = None
        self.close()

    def ask(self, *, method: str, target: str, headers: Mapping[str, str], body: Any, timeout: Timeout) -> Any:
        """Send one request, and return urllib3's answer, its body still to be read."""
        chunked = "Transfer-Encoding" in headers
        # Whoever refuses a large body may answer before all of it is sent.
        with suppress(BrokenPipeError):
            self.request(method, target, body, headers, chunked=chunked, preload_content=False, decode_content=False)
        self.timeout = timeout.read_timeout
        return self.getresponse()

    @property
    def has_heard(self) -> bool:
        """Whether anything came of the answer."""
        return self._heard is not None and self._heard.has_begun

    def getresponse(self) -> Any:
        """Raises TimeoutError: the standard library takes the end of the connection for the end of the head, and so it
        does where the deadline has shut the socket."""
        response = super().getresponse()
        if self._dialer.deadline.is_over:
            response.close()
            raise TimeoutError("the head took too long")
        return response

    def _new_conn(self) -> socket:
        dialled = self._dialer.dial(self.host.strip("[]"), self.port)
        self._twin = dialled.dup()
        self._dialer.deadline.watch(self._twin)
        self.timeout = dialled.gettimeout()
        return dialled

    def _answer(self, sock: socket, *arguments: Any, **options: Any) -> HTTPResponse:
        self._heard = FinalResponse(sock, *arguments, **options)
        return self._heard


class TlsConnection(PlainConnection, HTTPSConnection):
    """HTTPS comes from HTTPSConnection, the socket from the dialer."""

    def __init__(self, host: str, port: int, dialer: Dialer) -> None:
        super().__init__(host, port, dialer, ssl_context=tls_context(), cert_reqs="CERT_REQUIRED")
