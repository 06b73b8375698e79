"""The front: takes every request, serves itself what may take long, and gives the rest to Django's views."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from front import django_application  # noqa: F401, I001  # loads the apps, without which nothing below can be imported
import asyncio
import logging
import re
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import lru_cache, partial

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from accounts import authentication
from common import logs
from common.concurrency import threads
from common.concurrency.threads import Share
from common.errors import InvalidRequest, RequestTooLarge, TaskNotFound
from common.http import front_body
from common.http.asgi import Message, Receive, ResponseSend, Scope, Send, header, is_below, joined, values
from common.http.front_body import Body
from common.http.spool import SpoolFull
from front import companions, doors, error_responses, image_calls, refusals, task_api, visits, wsgi_side
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
LONGEST_HOST = 300
CLIENT_LEFT = 499
logger = logging.getLogger(__name__)


class HostRefused(InvalidRequest):
    """Nothing is served under that name."""

    default_message = "Host: names no host of this service."


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


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application. A request gets an id, an answer whatever happens, and a line in the log."""
    if scope["type"] == "lifespan":
        await live(receive, send)
    if scope["type"] != "http":
        return
    if found := ORIGIN.match(scope["path"]):
        scope["path"] = scope["path"][found.end() :] or "/"
        others = [pair for pair in scope["headers"] if pair[0] != b"host"]
        scope["headers"] = [*others, (b"host", found[1].encode("latin-1", "replace"))]
    request_id = logs.adopt_request_id(header(scope["headers"], b"x-request-id"))
    scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"x-request-id"]
    scope["headers"].append((b"x-request-id", request_id.encode()))
    is_head = scope["method"] == "HEAD"
    serves_sdks = not is_below(scope["path"], TASKS) and companions.serves_sdks(scope)
    if serves_sdks:
        companions.bring_key(scope)
    reply = ResponseSend(send, request_id=request_id, is_head=is_head, serves_sdks=serves_sdks)
    began = time.monotonic()
    threads.share.set(share_of(scope))
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
        logs.write_access(scope["method"], scope["path"], reply.status or CLIENT_LEFT, milliseconds)


async def answer(scope: Scope, receive: Receive, reply: ResponseSend) -> None:
    """Take in the body, whose declared size is judged before anything else but the host, and dispatch.

    Who may not send a large body is answered as if it were empty: what refuses them says so before it needs one.
    """
    endpoint = own_endpoint(scope["path"])
    reply.closes = True
    try:
        check_host(scope)
        payer, limit = threads.share.get().payer, largest_body(scope["path"])
        opened_for = partial(nobody if endpoint else doors.opened_for, scope)
        body = await front_body.read(scope, receive, limit=limit, payer=payer, opened_for=opened_for)
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


async def nobody(_: Scope) -> Hashable | None:
    """Our own endpoints take no large body of anybody."""
    return None


def share_of(scope: Scope) -> Share:
    """Whose share of the process a request takes: its account's, where this process has seen the key open before. Asked
    of every request, so without I/O; who is not known yet shares with others of that kind, and takes turns."""
    path = scope["path"]
    if path.startswith(visits.ROOT):
        digest = visits.digest_of(scope)
    else:
        digest = authentication.digest_of(joined(scope["headers"], b"authorization"))
    if digest and (holder := authentication.holder_of(digest)):
        return threads.of_account(holder.account_id)
    if path.startswith(doors.DESK):
        return threads.of_nobody(doors.DESK_PAYER)
    if path.startswith(ASSETS):
        return threads.of_nobody("links")
    client = scope.get("client")
    return threads.of_nobody("strangers", digest or (client[0] if client else ""))


def check_host(scope: Scope) -> None:
    """Raises HostRefused by ALLOWED_HOSTS, on every path but those by which a machine looks after this process: a load
    balancer asks those by our address. Several hosts are none; a request of HTTP/1.0 may name none."""
    named = values(scope["headers"], b"host")
    if not named or scope["path"] in health.PATHS:
        return
    host = ",".join(named)
    if len(host) > LONGEST_HOST or not _is_allowed(host, tuple(settings.ALLOWED_HOSTS)):
        logger.warning("a request names a host that ALLOWED_HOSTS does not: %.100r", host)
        raise HostRefused


@lru_cache(maxsize=1_000)
def _is_allowed(host: str, allowed: tuple[str, ...]) -> bool:
    """As Django judges it."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


async def dispatch(endpoint: Endpoint | None, scope: Scope, receive: Receive, reply: ResponseSend, body: Body) -> None:
    if endpoint:
        body.close()
        await endpoint(scope, receive, reply)
    elif is_below(scope["path"], TASKS):
        may_wait = scope["query_string"] or header(scope["headers"], b"prefer")
        found = waiting.answer(task_api.answer, scope, body, receive) if may_wait else task_api.answer(scope, body)
        await (await found).send(reply)
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
        page = await wsgi_side.ask(scope, body)
        if isinstance(page, StreamedAnswer):
            await page.stream(receive, reply, is_head=scope["method"] == "HEAD")
        else:
            await page.send(reply)


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
