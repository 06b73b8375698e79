"""Requests through the whole front in this process, to the sandbox's models, and what came back."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from common.asgi import Message
from front import application
from relay.wire import sse, upstream
from tests.scopes import scope
from tools.children import PATIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A whole answer."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)

    def events(self) -> Iterator[bytes]:
        """The data of each event."""
        for frame in self.content.replace(b"\r\n", b"\n").split(b"\n\n"):
            if (data := sse.data(frame + b"\n\n")) is not None:
                yield data


class Names(dict[str, str]):
    """Headers by their lower-case names, found by any spelling."""

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.lower(), default)


Beside = AbstractAsyncContextManager[object]


def ask(
    method: str, path: str, secret: str = "", body: Any = b"", *, beside: Beside | None = None, **headers: str
) -> Said:
    """One request of a client that stays until the end. What is no bytes is sent as JSON. `beside` is entered
    meanwhile, in the same event loop."""
    path, _, query = path.partition("?")
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    key = {"authorization": f"Bearer {secret}"} if secret else {}
    length = {"content_length": str(len(raw))} if raw else {}
    request = scope(method, path, query, **{"content_type": "application/json", **key, **length, **headers})
    return asyncio.run(asyncio.wait_for(_asked(request, raw, beside or nullcontext()), PATIENCE))


async def _asked(request: Any, raw: bytes, beside: Beside) -> Said:
    waiting: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        return waiting.pop() if waiting else await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    async with beside:
        try:
            await application.application(request, receive, send)
        finally:
            await upstream.close()
    start, *parts = sent
    headers = Names({name.decode(): value.decode("latin-1") for name, value in start["headers"]})
    content = b"".join(part.get("body", b"") for part in parts)
    return Said(status_code=start["status"], headers=headers, content=content)
