"""The adapters' exchange with a channel: credentials, one total deadline, caps, and faults as UpstreamError.

A paid exchange is a connection of its own, never repeated and never redirected, so that whether the request went out is
always known. What buys nothing goes over kept connections. Base URLs are the operator's own and may be private.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from adapters.base import Connection, ErrorKind, NothingSent, UpstreamError
from adapters.kit import error_kinds, error_shapes
from adapters.kit.compression import plain
from common.outbound import Failed, Reply
from common.outgoing.dial import Deadline, Dialer
from common.outgoing.lookup import OPERATOR
from common.outgoing.wire import Message, exchange

MAX_JSON_BYTES = 8 * 1024 * 1024
MAX_JOB_BYTES = 32 * 1024 * 1024
"""The most that is read of a finished job whose answer may hold its pictures."""
MAX_ERROR_BYTES = 64 * 1024

Authorize = Callable[[Connection], dict[str, str]]
"""The headers that authenticate at a channel. Raises UpstreamError (AUTH) without a usable credential."""

Spoken = Callable[[Any, int], error_kinds.SpokenError]
"""What an answer's document and HTTP status say of an error, in the terms that a protocol's table of codes knows."""


def bearer(connection: Connection) -> dict[str, str]:
    """The usual header, from `api_key`."""
    return {"Authorization": f"Bearer {secret(connection)}"}


def secret(connection: Connection, name: str = "api_key") -> str:
    """A credential that can stand in a header. Raises UpstreamError (AUTH)."""
    value = connection.credentials.get(name, "")
    if not value or " " in value or not (value.isascii() and value.isprintable()):
        raise UpstreamError(ErrorKind.AUTH, f"the channel's credentials have no usable {name}")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """A request to a channel. `path` is relative to its base URL; `url` stands for both where a provider has told an
    address, which the caller has judged to be of the channel's own origin. `paid`: it would buy something. `shape`
    knows an error of the protocol from one of a proxy."""

    method: str
    path: str
    codes: error_kinds.Codes
    paid: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Iterable[bytes] | None = None
    max_bytes: int = MAX_JSON_BYTES
    authorize: Authorize = bearer
    url: str = ""
    spoken: Spoken = error_kinds.spoken_error
    shape: error_shapes.Shape = error_shapes.error_object


@contextmanager
def calling(call: HttpCall, connection: Connection) -> Iterator[Reply]:
    """The 2xx reply to a call, its body still to be read. Raises UpstreamError, also for what breaks off inside, and
    NothingSent for a paid call that found no room here."""
    message = Message(
        method=call.method,
        url=call.url or connection.base_url.rstrip("/") + call.path,
        headers={**call.headers, **call.authorize(connection)},
        body=call.body,
    )
    try:
        with (
            Deadline(connection.total_timeout) as deadline,
            exchange(message, dialer(connection, deadline, paid=call.paid), max_bytes=call.max_bytes) as sent,
        ):
            reply = plain(sent, call.max_bytes) if "Content-Encoding" in sent.headers else sent
            if not 200 <= reply.status < 300:
                raise error_of(error_body(reply), reply, call, connection)
            yield reply
    except Failed as failed:
        if call.paid and failed.reason == "busy":
            raise NothingSent(failed.words) from failed
        raise error_kinds.lost(failed, paid=call.paid) from failed


def dialer(connection: Connection, deadline: Deadline, *, paid: bool) -> Dialer:
    """Opens connections to the channel itself: its address is the operator's choice, whatever it resolves to. What buys
    nothing may go over a connection that another such call has left, whatever its credential."""
    return Dialer(
        deadline,
        judge=None,
        chosen_by=OPERATOR,
        connect_seconds=connection.connect_timeout,
        circle=None if paid else OPERATOR,
    )


def call_json(
    call: HttpCall, connection: Connection, is_usable: Callable[[dict[str, Any]], bool] = lambda document: True
) -> dict[str, Any]:
    """The JSON object that a call answers with, as usable as the protocol promises. Raises UpstreamError."""
    with calling(call, connection) as reply:
        document = error_kinds.parsed(b"".join(reply.chunks))
        if not isinstance(document, dict) or not is_usable(document):
            raise error_of(document, reply, call, connection)
    return document


def error_of(document: Any, reply: Reply, call: HttpCall, connection: Connection) -> UpstreamError:
    """The error for a reply that is no success, or a success without what the protocol promises."""
    spoken, is_own = call.spoken(document, reply.status), call.shape(document)
    return refused(reply, spoken, call.codes, connection, is_own=is_own, paid=call.paid)


def refused(
    reply: Reply,
    spoken: error_kinds.SpokenError,
    codes: error_kinds.Codes,
    connection: Connection,
    *,
    is_own: bool = False,
    paid: bool = False,
) -> UpstreamError:
    """The error that a reply stands for, without the channel's credentials in what is kept of body and headers."""
    said = without_credentials(spoken, connection)
    answer = error_kinds.ErrorAnswer(status=reply.status, headers=reply.headers, spoken=said, is_own=is_own)
    error = error_kinds.refusal(answer, codes, paid=paid)
    error.request_id = redacted(error.request_id, connection)
    return error


def without_credentials(spoken: error_kinds.SpokenError, connection: Connection) -> error_kinds.SpokenError:
    return error_kinds.SpokenError(*(redacted(text, connection) for text in spoken))


def error_body(reply: Reply) -> Any:
    """The JSON of an error answer; None where there is none, or where it breaks off and the status has to do."""
    body = b""
    with suppress(Failed):
        for chunk in reply.chunks:
            body += chunk
            if len(body) >= MAX_ERROR_BYTES:
                break
    return error_kinds.parsed(body)


def redacted(text: str, connection: Connection) -> str:
    """The text without the channel's credentials: some providers quote them when they refuse them."""
    for secret in filter(None, connection.credentials.values()):
        text = text.replace(secret, "***")
    return text
