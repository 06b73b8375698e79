"""Requests to the whole front in this process, whose answers must be documented."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from requests.structures import CaseInsensitiveDict

from common.http.asgi import Message
from front import application
from relay.wire import sse, upstream
from tests.reference import validating
from tests.rows import IssuedKey
from tests.scopes import scope
from tools.children import PATIENCE

LOOPBACK = ("127.0.0.1", 50_000)
Beside = AbstractAsyncContextManager[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a client got."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.content)

    def events(self) -> Iterator[bytes]:
        """The data of each event."""
        for frame in self.content.replace(b"\r\n", b"\n").split(b"\n\n"):
            if (data := sse.data(frame + b"\n\n")) is not None:
                yield data

    @property
    def refusal(self) -> tuple[int, str]:
        """Status and type."""
        return self.status_code, self.document["error"]["type"]


def ask(
    method: str,
    target: str,
    *,
    key: IssuedKey | None = None,
    body: Any = b"",
    enough: Callable[[bytes], bool] | None = None,
    beside: Beside | None = None,
    **headers: str,
) -> Said:
    """A body that is no bytes is sent as JSON. Of a stream the client takes what is `enough`, and leaves. `beside` is
    entered meanwhile, in the same event loop."""
    path, _, query = target.partition("?")
    own = {"authorization": f"Bearer {key.secret}"} if key else {}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    length = {"content_length": str(len(content))} if content else {}
    request = scope(method, path, query, **{"content_type": "application/json", **own, **length, **headers})
    request["client"] = LOOPBACK
    return asyncio.run(asyncio.wait_for(_asked(request, content, enough, beside or nullcontext()), PATIENCE))


async def _asked(request: Any, content: bytes, enough: Callable[[bytes], bool] | None, beside: Beside) -> Said:
    pieces = [{"type": "http.request", "body": content, "more_body": False}]
    sent: list[Message] = []
    left = asyncio.Event()

    async def receive() -> Message:
        if pieces:
            return pieces.pop(0)
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if enough and enough(received(sent)):
            left.set()

    async with beside:
        try:
            await application.application(request, receive, send)
        finally:
            await upstream.close()
    headers = CaseInsensitiveDict((name.decode(), value.decode("latin-1")) for name, value in sent[0]["headers"])
    return Said(status_code=sent[0]["status"], headers=headers, content=received(sent))


def received(sent: list[Message]) -> bytes:
    return b"".join(message.get("body", b"") for message in sent)


def documented(method: str, target: str, *, body: Any = b"", **options: Any) -> Said:
    """As `ask`; the answer must be one of the document's, and a JSON body that is accepted as well."""
    said = ask(method, target, body=body, **options)
    validating.answer(method, target, said)
    if body and said.status_code < 300:
        validating.request(method, target, body)
    return said
