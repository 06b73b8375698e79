"""One HTTP connection: gunicorn's, in our words where the server speaks itself, and with bounds on its time.

Overrides private methods: `pyproject.toml` holds gunicorn's minor version, `tests/front/server/test_gunicorn.py` their
shape.
"""

import asyncio
from http import HTTPStatus
from typing import Any

from gunicorn.asgi import parser
from gunicorn.asgi.protocol import _REASON_PHRASES, ASGIProtocol, BodyReceiver
from gunicorn.http.errors import ParseException

from common.http import dialects
from common.http.asgi import header
from front.server import head_faults, refusals
from front.server.farewell import Farewell
from front.server.places import Places

HEAD_BYTES = 256 * 1024
# A ValueError is a Content-Length of more digits than Python reads as a number.
UNREADABLE = (parser.ParseError, ParseException, ValueError)
# gunicorn has no words for some, 402 and 426 among them, and would say "Unknown".
_REASON_PHRASES.update({status.value: status.phrase for status in HTTPStatus if status not in _REASON_PHRASES})


class HttpConnection(ASGIProtocol):  # type: ignore[misc]
    """HTTP/1.1 and 1.0."""

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self._places: Places = worker.places
        self._head_bytes = 0
        self._is_broken = False
        self._says_close = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        if not self._places.admit(self):
            Farewell(transport, refusals.spoken(refusals.of_crowd()), places=self._places)
            return
        super().connection_made(transport)
        # A response counts as complete only when its client has taken all of it, up to what the kernel holds.
        transport.set_write_buffer_limits(high=0)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        super().resume_writing()  # else whoever waits to send would wait for nobody
        self._places.gone(self)

    def hang_up(self) -> None:
        self._closed = True
        self._request_ready.set()
        self.transport.abort()

    def unsent(self) -> int:
        return int(self.transport.get_write_buffer_size())

    def pause_writing(self) -> None:
        super().pause_writing()
        self._places.stalls(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._places.flows(self)

    def _arm_keepalive_timer(self) -> None:
        self._places.idle(self)

    def _cancel_keepalive_timer(self) -> None:
        self._places.busy(self)

    def data_received(self, data: bytes) -> None:
        if not self._is_broken:
            super().data_received(data)

    def _feed_callback_parser(self, data: bytes) -> bool:
        """Whether the connection goes on. A request in progress keeps what comes behind it from the parser."""
        unread = b"" if self._current_request else bytes(self._callback_parser._buffer)
        try:
            self._callback_parser.feed(data)
            self._note_head(data)
        except UNREADABLE as error:
            return self._turn_away(error, unread + data)
        return True

    def _note_head(self, data: bytes) -> None:
        if self._current_request is not None:
            self._head_bytes = 0
            self._places.busy(self)
            return
        self._places.sends_head(self)
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            raise parser.LimitRequestHeaders()

    def _on_headers_complete(self) -> bool:
        head = self._callback_parser
        head_faults.check_host(head.http_version, head.headers)
        if head.is_chunked:
            refuse_other_codings(head.headers)
        return bool(super()._on_headers_complete())

    def _turn_away(self, error: Exception, head: bytes) -> bool:
        """Whether the connection goes on: once more, where the front has to answer. `head` is what was read of it."""
        if self._body_receiver is not None:
            self._break_off(self._body_receiver)
            return True
        offered_id = header(self._callback_parser._headers_list, b"x-request-id")
        self._part(refusals.spoken(refusals.of_head(error, head, offered_id=offered_id)))
        return False

    def _break_off(self, receiver: BodyReceiver) -> None:
        """The framing of the body is broken. The front answers: its request has an id, and perhaps its answer began."""
        self._is_broken = True
        self._pause_reading()
        receiver._body_wait_expired = True
        receiver._wake_waiter()

    def _part(self, words: bytes = b"") -> None:
        """The connection serves nothing more."""
        self._closed = True
        self._request_ready.set()
        self._resume_reading()
        self._places.gone(self)
        Farewell(self.transport, words, places=self._places, after=self)

    def _send_response_start(self, status: int, headers: Any, request: Any, close: bool = False) -> None:
        self._says_close = header(headers, b"connection") == "close"
        super()._send_response_start(status, headers, request, close=close)

    async def _serve_http_request(self, request: Any, sockname: Any, peername: Any) -> bool:
        """Whether the connection goes on. What follows an answer that ends it is not served (RFC 9112, 9.6)."""
        goes_on = await super()._serve_http_request(request, sockname, peername)
        return bool(goes_on) and not self._says_close

    def _close_transport(self) -> None:
        if self._closed:
            return
        if self._is_broken:
            self._part()
            return
        super()._close_transport()
        if not self.transport.is_closing():
            self.transport.abort()  # gunicorn stops halfway where the client has reset the connection

    def _send_error_response(self, status: int, message: str, extra_headers: Any = ()) -> None:
        """Only for a front that gave no answer although the client is there: what cannot be read is refused above."""
        if self._closed:
            return
        request = self._current_request
        offered_id = header(request.headers_bytes, b"x-request-id")
        dialect = dialects.of(request.path, request.headers_bytes)
        self._safe_write(refusals.spoken(refusals.of_fault(offered_id, dialect)))

    def _is_websocket_upgrade(self, request: Any) -> bool:
        """An Upgrade is ignored (RFC 9110, 7.8)."""
        return False


def refuse_other_codings(headers: list[tuple[bytes, bytes]]) -> None:
    """A body that is compressed and then chunked would reach the front compressed. Raises UnsupportedTransferCoding."""
    codings = b",".join(value for name, value in headers if name == b"transfer-encoding").lower().split(b",")
    if {coding.strip() for coding in codings} != {b"chunked"}:
        raise parser.UnsupportedTransferCoding()
