"""What the front and its ASGI endpoints share: types of the callables, header look-up, whole answers."""

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from common import money
from common.errors import ApiError
from common.http import dialects
from common.http.dialects import ErrorDialect

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]

# The names of headers that came more than once, in WSGI's environ: it joins their values, and so forgets that.
REPEATED_HEADERS = "darkroom.repeated_headers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole response in memory. Header names are lower-case."""

    status: int
    headers: Headers
    body: bytes

    async def send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": list(self.headers)})
        await send({"type": "http.response.body", "body": self.body})


class ResponseSend:
    """The server's `send`, with the headers that every response carries and no body for HEAD."""

    def __init__(self, send: Send, *, request_id: str, is_head: bool, serves_sdks: bool) -> None:
        self._send = send
        self._request_id = request_id
        self._serves_sdks = serves_sdks
        self._is_head = is_head
        self.status = 0
        self.closes = False  # the rest of a body is no next request

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._complete(list(message.get("headers", ())))}
        elif self._is_head:
            message = {**message, "body": b""}
        await self._send(message)

    def _complete(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        headers = [pair for pair in headers if pair[0].lower() != b"x-request-id"]
        headers.append((b"x-request-id", self._request_id.encode()))
        if self._serves_sdks:  # of which some read it by the other name
            headers.append((b"request-id", self._request_id.encode()))
        if header(headers, b"content-type").startswith("application/json") and not header(headers, b"cache-control"):
            headers.append((b"cache-control", b"no-store"))
        if self.closes:
            headers.append((b"connection", b"close"))
        return headers


def header(headers: Headers | list[tuple[bytes, bytes]], name: bytes) -> str:
    """The first header of that (lower-case) name as text; empty where there is none."""
    for key, value in headers:
        if key == name:
            return value.decode("latin-1")
    return ""


def values(headers: Headers | list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    """Every header of that (lower-case) name as text, in order."""
    return [value.decode("latin-1").strip() for key, value in headers if key == name]


def joined(headers: Headers | list[tuple[bytes, bytes]], name: bytes) -> str:
    """The header as WSGI has it, repeated ones joined: two keys, say, are then no key on either side."""
    return ",".join([value.decode("latin-1").strip() for key, value in headers if key == name])


def is_below(path: str, root: str) -> bool:
    """Whether the path is this root (`/admin`, say) or lies in it."""
    return path == root or path.startswith(f"{root}/")


def json_answer(status: int, document: object, *, headers: Headers = ()) -> Answer:
    body = money.dumps(document, separators=(",", ":")).encode()
    own = ((b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()))
    return Answer(status=status, headers=own + headers, body=body)


def dialect_of(scope: Scope) -> ErrorDialect:
    """How this request's client reads errors."""
    return dialects.of(scope["path"], scope["headers"])


def error_answer(error: ApiError, *, dialect: ErrorDialect = dialects.TASKS, headers: Headers = ()) -> Answer:
    """The error as it is documented for the dialect; `headers` are added to its own."""
    named = dialects.headers(error, dialect).items()
    own = tuple((name.lower().encode(), value.encode("latin-1")) for name, value in named)
    return json_answer(dialect.status(error), dialect.body(error), headers=own + headers)


async def disconnected(receive: Receive) -> None:
    """Returns when the client has left; what it still sends is dropped."""
    with suppress(OSError):
        while (await receive())["type"] != "http.disconnect":
            pass
