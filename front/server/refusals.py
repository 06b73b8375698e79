"""What the server answers itself, before a request reaches the front: the documented JSON, as the bytes on the wire."""

import contextvars
import logging
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus

from common import logs
from common.errors import ApiError, InternalError, InvalidRequest, ServiceUnavailable
from common.http import dialects
from common.http.asgi import Headers, error_answer
from common.http.dialects import ErrorDialect
from front.server import head_faults

access = logging.getLogger("darkroom.access")
CLOSE: Headers = ((b"connection", b"close"), (b"cache-control", b"no-store"))
NO_ROOM = "Too many connections are busy; try again later."


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswer:
    """What we say instead of the front, and the id that the request brought."""

    status: int
    error: ApiError
    offered_id: str = ""
    dialect: ErrorDialect = dialects.TASKS


def of_head(raised: Exception, head: bytes, *, offered_id: str) -> ServerAnswer:
    """What became of a head that the parser did not take."""
    status, message = head_faults.of(raised, head)
    return ServerAnswer(status=status, error=InvalidRequest(message), offered_id=offered_id)


def of_fault(offered_id: str, dialect: ErrorDialect) -> ServerAnswer:
    """The front itself gave no answer; it has logged why."""
    return ServerAnswer(status=InternalError.status, error=InternalError(), offered_id=offered_id, dialect=dialect)


def of_crowd() -> ServerAnswer:
    """Every place is taken by a request in progress; what this client asks is not read."""
    return ServerAnswer(status=ServiceUnavailable.status, error=ServiceUnavailable(NO_ROOM))


def spoken(said: ServerAnswer) -> bytes:
    """The whole response, which also says that the connection ends. It is in the access log then."""
    return contextvars.copy_context().run(_spoken, said)


def _spoken(said: ServerAnswer) -> bytes:
    status, request_id = said.status, logs.adopt_request_id(said.offered_id)
    answer = error_answer(said.error, dialect=said.dialect, headers=CLOSE)
    seen = {"method": "-", "path": "-", "status": status, "milliseconds": 0.0, "refused": said.error.message}
    access.info("- - %s", status, extra=seen)
    own = ((b"x-request-id", request_id.encode()), (b"date", formatdate(usegmt=True).encode()))
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    lines += [b"%s: %s" % pair for pair in answer.headers + own]
    return b"\r\n".join([*lines, b"", answer.body])
