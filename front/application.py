"""The front: takes every request, serves itself what may take long, and gives the rest to Django's views."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import asyncio
import re
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Hashable, Mapping

from django.conf import settings

from common.concurrency import threads
from common.errors import RequestTooLarge, TaskNotFound
from common.http import front_body, request_ids
from common.http.asgi import Message, Receive, Scope, Send, header, is_below
from common.http.front_body import Body
from common.http.spool import SpoolFull
from front import (
    access_log,
    companions,
    doors,
    error_responses,
    hosts,
    image_calls,
    refusals,
    shares,
    task_api,
    visits,
    wsgi_side,
)
from front.hosts import HostRefused
from front.streamed import StreamedAnswer
from relay import application as relay
from relay.calls.in_flight import in_flight
from relay.wire import upstream
from tasks_api import assets, health, stream, waiting

Endpoint = Callable[[Scope, Receive, Send], Awaitable[None]]

ENDPOINTS: Mapping[str, Endpoint] = {
    **dict.fromkeys(health.PATHS, health.application),
    "/v1/tasks/events": stream.application,
    visits.STREAM: visits.application,
}
ASSETS = "/assets/"
TASKS = "/v1/tasks"
ASSET_PATH = re.compile(r"/v1/tasks/[^/]+/assets/[^/]+|/v1/videos/[^/]+/content")
# A target may be a whole URL, which then names the host (RFC 9112, 3.2.2); gunicorn passes that on as the path.
ORIGIN = re.compile(r"\Ahttps?://([^/]*)", re.IGNORECASE)
CLIENT_LEFT = 499


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


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application."""
    match scope["type"]:
        case "http":
            await serve(scope, receive, send)
        case "lifespan":
            await live(receive, send)


async def live(receive: Receive, send: Send) -> None:
    """Nothing to start; at the end the calls are settled whose clients have left, and the connections to upstreams are
    closed."""
    while True:
        event = (await receive())["type"]
        if event == "lifespan.shutdown":
            await in_flight.settled()
            await upstream.close()
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """One request: an id, an answer whatever happens, a line in the log."""
    if found := ORIGIN.match(scope["path"]):
        scope["path"] = scope["path"][found.end() :] or "/"
        others = [pair for pair in scope["headers"] if pair[0] != b"host"]
        scope["headers"] = [*others, (b"host", found[1].encode("latin-1", "replace"))]
    request_id = request_ids.adopt(header(scope["headers"], b"x-request-id"))
    scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"x-request-id"]
    scope["headers"].append((b"x-request-id", request_id.encode()))
    is_head = scope["method"] == "HEAD"
    serves_sdks = not is_below(scope["path"], TASKS) and companions.serves_sdks(scope)
    if serves_sdks:
        companions.bring_key(scope)
    reply = ResponseSend(send, request_id=request_id, is_head=is_head, serves_sdks=serves_sdks)
    began = time.monotonic()
    threads.share.set(shares.of(scope))
    try:
        await answer(scope, receive, reply)
    except CancelledError:
        reply.status = reply.status or CLIENT_LEFT
        raise
    except Exception as raised:
        error = error_responses.told(raised)
        if not reply.status:
            await refusals.answer(scope, error).send(reply)
    finally:
        milliseconds = round((time.monotonic() - began) * 1000, 1)
        access_log.write(scope["method"], scope["path"], reply.status or CLIENT_LEFT, milliseconds)


async def answer(scope: Scope, receive: Receive, reply: ResponseSend) -> None:
    """Take in the body, whose declared size is judged before anything else but the host, and dispatch.

    Who may not send a large body is answered as if it were empty: what refuses them says so before it needs one.
    """
    endpoint = own_endpoint(scope["path"])
    reply.closes = True
    try:
        hosts.check(scope)
        body = await taken_in(scope, receive, with_large=endpoint is None)
    except (HostRefused, RequestTooLarge, front_body.Incomplete, SpoolFull) as error:
        await refusals.answer(scope, error).send(reply)
        await front_body.drain(receive)
        return
    except front_body.Unopened:
        unread = front_body.unread() if task_api.answers(scope) else front_body.empty()
        await dispatch(endpoint, scope, receive if endpoint else nothing_more, reply, unread)
        await front_body.drain(receive)
        return
    reply.closes = False
    await dispatch(endpoint, scope, receive, reply, body)


async def taken_in(scope: Scope, receive: Receive, *, with_large: bool) -> Body:
    """The body. Raises what `front_body.read` raises."""
    if not front_body.may_follow(scope):
        return front_body.empty()

    async def opened_for() -> Hashable | None:
        return await doors.opened_for(scope) if with_large else None

    payer, limit = threads.share.get().payer, largest_body(scope["path"])
    return await front_body.read(scope, receive, limit=limit, payer=payer, opened_for=opened_for)


async def dispatch(endpoint: Endpoint | None, scope: Scope, receive: Receive, reply: ResponseSend, body: Body) -> None:
    if endpoint:
        body.close()
        await endpoint(scope, receive, reply)
    elif is_below(scope["path"], TASKS):
        await (await waiting.answer(task_api.answer, scope, body, receive)).send(reply)
    elif relay.serves(scope):
        await relay.serve(scope, body, receive, reply)
    elif image_calls.is_one(scope):
        await image_calls.serve(scope, body, receive, reply)
    elif error := companions.refusal(scope):
        body.close()
        await refusals.answer(scope, error).send(reply)
    elif scope["path"].startswith("/v1/"):
        await (await task_api.answer(scope, body)).send(reply)
    else:
        found = await wsgi_side.ask(scope, body)
        if isinstance(found, StreamedAnswer):
            await found.stream(receive, reply, is_head=scope["method"] == "HEAD")
        else:
            await found.send(reply)


def largest_body(path: str) -> int:
    """The largest body that a path takes, in bytes."""
    largest: int = settings.MAX_REQUEST_BYTES
    return min(largest, doors.ADMIN_BYTES) if is_below(path, doors.DESK) else largest


async def nothing_more() -> Message:
    """The `receive` of a request whose body is not read: only draining it may tell the client to send on."""
    return await asyncio.Future()


def own_endpoint(path: str) -> Endpoint | None:
    """What the asynchronous side serves itself; None: a view of Django's."""
    if path in ENDPOINTS:
        return ENDPOINTS[path]
    if path.startswith(ASSETS) or ASSET_PATH.fullmatch(path):
        return assets.application
    return unknown if "\0" in path else None


async def unknown(scope: Scope, receive: Receive, send: Send) -> None:
    """No path of ours holds a NUL, and no database takes one."""
    raise TaskNotFound("Unknown path.")
