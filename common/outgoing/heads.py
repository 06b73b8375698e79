"""What an HTTP answer may hold beside its body: interim answers, a head, lines around chunks, a trailer. All is capped.

The standard library caps one line and the number of headers, but neither how many interim answers come before the head,
nor what stands around the chunks of a body.
"""

from http.client import CONTINUE, SWITCHING_PROTOCOLS, HTTPException, HTTPResponse
from io import BufferedReader
from socket import socket
from ssl import SSLWantReadError
from typing import Any

MAX_HEAD_BYTES = 64 * 1024
MAX_INTERIMS = 10
LINE_BYTES_PER_BYTE = 16  # what a body of chunks of one byte needs for their lengths, generously


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
        except SSLWantReadError:
            return False
        except (OSError, ValueError):
            return True
