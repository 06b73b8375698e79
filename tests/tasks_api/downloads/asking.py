"""Requests to the ASGI application in this process, and what came back."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from tasks_api.assets import application


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def error(self) -> str:
        """The error type of the documented body."""
        found = json.loads(self.body)
        assert list(found) == ["error"]
        assert set(found["error"]) == {"type", "message"}
        assert self.headers["cache-control"] == "no-store"
        return str(found["error"]["type"])


def ask(url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None) -> Response:
    """One request to a path or URL by a client that stays until the end."""
    return asyncio.run(_ask(scope(url, method=method, headers=headers)))


def scope(url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    parts = urlsplit(url)
    pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    return {
        "type": "http",
        "method": method,
        "path": unquote(parts.path),
        "query_string": parts.query.encode(),
        "headers": pairs,
    }


async def _ask(request: dict[str, Any]) -> Response:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await application(request, silent, send)
    assert sent[-1].get("more_body", False) is False
    start, *parts = sent
    headers = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Response(status=start["status"], headers=headers, body=b"".join(part["body"] for part in parts))


async def silent() -> Any:
    """The `receive` of a client that neither sends nor leaves."""
    await asyncio.get_running_loop().create_future()
