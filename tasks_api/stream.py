"""`GET /v1/tasks/events` on the asynchronous side: Server-Sent Events of the key's tasks (interface, "Event stream").

What is new comes from `tasks/events/hub.py`, what was missed from `tasks/events/reader.py`; this module knows the wire.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from django.db import Error as DatabaseError
from django.http import QueryDict

from accounts import authentication
from common.concurrency import threads
from common.errors import MethodNotAllowed
from common.http import rates
from common.http.asgi import Receive, Scope, Send, disconnected, header, joined
from tasks.events import reader, readmission
from tasks.events.hub import hub
from tasks.events.listeners import Listener
from tasks.events.reader import Event
from tasks.events.readmission import Admitted
from tasks_api import queries

HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
OPENING = b"retry: 3000\n: open\n\n"
HEARTBEAT = b": heartbeat\n\n"
CURSOR = re.compile("[0-9]{1,18}")
EVENTS_PER_SEND = 200
LONGEST_SILENCE_SECONDS = 1.0
Asked = int | Literal["unknown"] | None
logger = logging.getLogger(__name__)


Admit = Callable[[Scope], Admitted]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """ASGI. Raises the ApiError of a refusal before anything is sent."""
    await serve(scope, receive, send, admit=admitted)


async def serve(scope: Scope, receive: Receive, send: Send, *, admit: Admit, heartbeat: bytes = HEARTBEAT) -> None:
    """The stream of whom `admit` lets in; it is called on a thread, and raises the ApiError of a refusal."""
    guest = await threads.call(_listening, scope, admit)
    threads.share.set(threads.of_account(guest.caller.account_id))
    async with hub.listen(guest) as listener:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        leaving = asyncio.create_task(disconnected(receive))
        leaving.add_done_callback(lambda _: listener.end())
        try:
            await Stream(listener, send, cursor=asked_cursor(scope), heartbeat=heartbeat).run()
        except DatabaseError as error:
            logger.warning("a stream ends, because its events cannot be read: %s", error)
        finally:
            leaving.cancel()
    await send({"type": "http.response.body", "body": b""})


def admitted(scope: Scope) -> Admitted:
    """Whose key the request brings."""
    return readmission.by_secret(authentication.admit(joined(scope["headers"], b"authorization")).caller)


def _listening(scope: Scope, admit: Admit) -> Admitted:
    guest = admit(scope)
    rates.check("read", guest.caller.key_id)
    if scope["method"] != "GET":
        raise MethodNotAllowed("Events are streamed to GET.", headers={"Allow": "GET"})
    queries.single_values(QueryDict(scope["query_string"]), ("after",))
    return guest


def asked_cursor(scope: Scope) -> Asked:
    """The event after which the client wants to go on: of the header, else of `?after=`; None is from now on."""
    query = QueryDict(scope["query_string"])
    given = header(scope["headers"], b"last-event-id").strip() or query.get("after", "").strip()
    if not given:
        return None
    return int(given) if CURSOR.fullmatch(given) else "unknown"


class Stream:
    """One client's way through the events: a place in them."""

    __slots__ = ("_asked", "_heartbeat", "_listener", "_place", "_send")

    def __init__(self, listener: Listener, send: Send, *, cursor: Asked, heartbeat: bytes) -> None:
        self._listener = listener
        self._send = send
        self._asked = cursor
        self._heartbeat = heartbeat
        self._place: int | None = None

    async def run(self) -> None:
        """Until the listener is ended."""
        self._listener.beats()
        if self._listener.mark is None:
            await self._listener.news(seconds=LONGEST_SILENCE_SECONDS)
        mark = self._listener.mark  # taken before the opening, so that whatever happens after it is told
        await _write(self._send, OPENING)
        if mark is not None:
            self._place = await self._begin(mark)
        while True:
            if self._listener.is_silent:
                self._listener.beats()
                await _write(self._send, self._heartbeat)
            if not await self._advance():
                await self._listener.news()

    async def _advance(self) -> bool:
        """Send what there is; whether there may be more."""
        mark = self._listener.mark
        if mark is None:
            return False
        if self._place is None:
            self._place = await self._begin(mark)
            return True
        return await self._tell_more(self._place, mark)

    async def _begin(self, mark: int) -> int:
        """The place from which to go on, after the snapshot where one is due."""
        caller, asked = self._listener.caller, self._asked
        if isinstance(asked, int) and await threads.call(reader.is_replayable, caller.key_id, asked):
            return asked
        if asked is not None:
            await _write(self._send, reset(mark))
        live = await threads.call(reader.live_at, mark, caller.account_id, caller.key_id)
        await self._tell(live)
        if not live:
            await _write(self._send, b"id: %d\n\n" % mark)  # so that a client cut before its first event misses none
        return mark

    async def _tell_more(self, place: int, mark: int) -> bool:
        events = self._listener.since(place)
        if events is None:
            await self._catch_up(place, mark)
            return True
        if events:
            self._place = events[-1].id
            await self._tell(events)
        return bool(events)

    async def _catch_up(self, place: int, mark: int) -> None:
        """Send the next page of what is too far back for the memory: for a replay, or a client that reads slowly."""
        key_id = self._listener.caller.key_id
        events, self._place = await threads.call(reader.missed, key_id, place, mark)
        await self._tell(events)

    async def _tell(self, events: Sequence[Event]) -> None:
        for first in range(0, len(events), EVENTS_PER_SEND):
            await _write(self._send, b"".join(map(frame, events[first : first + EVENTS_PER_SEND])))


@lru_cache(maxsize=1_000)
def frame(event: Event) -> bytes:
    """A task.updated event, made once for all streams. The id comes last, so that the line `event` is followed by the
    line `data`."""
    shown = {"id": event.task_id, "status": event.status, "modality": event.modality, "model": event.model_name}
    return f"event: task.updated\ndata: {json.dumps(shown, separators=(',', ':'))}\nid: {event.id}\n\n".encode()


def reset(cursor: int) -> bytes:
    """Says that events were missed which cannot be told any more; the state of the live tasks follows."""
    return f"event: stream.reset\ndata: {{}}\nid: {cursor}\n\n".encode()


async def _write(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
