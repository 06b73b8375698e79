"""`Prefer: wait=N` and `?wait=N`: holds back the answer of a task view until the task has ended, N seconds at most.

A wait is a future in `tasks/events/hub.py` and costs neither a thread nor a database connection. A key has 16 at once.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from urllib.parse import parse_qs

from accounts import authentication
from common.http import front_body
from common.http.asgi import Answer, Receive, Scope, disconnected, header, joined, values
from common.http.front_body import Body
from common.ids import is_task_id
from tasks.events.hub import hub
from tasks.models import LIVE
from tasks_api import preferences

LONGEST_SECONDS = 60
WAITS_PER_KEY = 16
REPLAYS_PER_KEY = 256  # image calls whose task another call has made: so many clients may ask for one at once
WHOLE = re.compile("[0-9]+")
TASK_PATH = re.compile(r"/v1/tasks/(task_[^/]+)")

Ask = Callable[[Scope, Body], Awaitable[Answer]]
# Of this process, by key; only the event loop counts.
waits: Counter[int] = Counter()
replays: Counter[int] = Counter()


class TooManyWaits(Exception):
    """The key waits often enough in this process; it is answered with the state of now."""


async def answer(ask: Ask, scope: Scope, body: Body, receive: Receive) -> Answer:
    """The views' answer to the request, after the wait it asks for. `receive` has given up the body already."""
    if scope["method"] == "POST" and scope["path"] == "/v1/tasks":
        seconds = preferred(scope)
        return await ask(scope, body) if seconds is None else await _submitted(ask, scope, body, receive, seconds)
    if scope["method"] in ("GET", "HEAD") and (match := TASK_PATH.fullmatch(scope["path"])) and is_task_id(match[1]):
        seconds = queried(scope)
        return await ask(scope, body) if seconds is None else await _read(ask, scope, body, receive, seconds)
    return await ask(scope, body)


def preferred(scope: Scope) -> int | None:
    """Seconds of the first `wait` in the Prefer headers; None where there is none or it is no whole number."""
    sent = values(scope["headers"], b"prefer")
    given = preferences.first(sent, "wait") if sent else None
    return clamped(given) if given and WHOLE.fullmatch(given) else None


def queried(scope: Scope) -> int | None:
    """Seconds of `?wait=`; None where there is none or the view will refuse it."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get("wait", [""])
    return clamped(given[-1]) if WHOLE.fullmatch(given[-1]) else None


def clamped(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    return LONGEST_SECONDS if len(significant) > 2 else min(int(significant), LONGEST_SECONDS)


async def _submitted(ask: Ask, scope: Scope, body: Body, receive: Receive, seconds: int) -> Answer:
    accepted = await ask(scope, body)
    if accepted.status != 202 or header(accepted.headers, b"idempotency-replayed"):
        return accepted
    task_id = json.loads(accepted.body)["id"]
    try:
        if seconds and await has_ended(task_id, seconds, scope, receive):
            task = await ask(_reading(scope, task_id), front_body.empty())
            if task.status == 200:
                return applied(task, seconds)
    except TooManyWaits:
        return accepted
    return applied(accepted, seconds)


async def _read(ask: Ask, scope: Scope, body: Body, receive: Receive, seconds: int) -> Answer:
    unconditional = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"if-none-match"]}
    first = await ask(unconditional, body)
    if first.status != 200:
        return first
    task = json.loads(first.body)
    try:
        if seconds and task["status"] in LIVE:
            await has_ended(task["id"], seconds, scope, receive)
        elif unconditional["headers"] == scope["headers"]:
            return applied(first, seconds)
    except TooManyWaits:
        return await ask(scope, front_body.empty())
    return applied(await ask(scope, front_body.empty()), seconds)


def _reading(scope: Scope, task_id: str) -> Scope:
    """GET of the task with the submission's own headers, less those about its body."""
    headers = [pair for pair in scope["headers"] if not pair[0].startswith((b"content-", b"if-", b"transfer-"))]
    path = f"/v1/tasks/{task_id}"
    return {**scope, "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers}


def applied(whole: Answer, seconds: int) -> Answer:
    return replace(whole, headers=(*whole.headers, (b"preference-applied", f"wait={seconds}".encode())))


async def has_ended(task_id: str, seconds: float, scope: Scope, receive: Receive) -> bool:
    """Whether the task has ended: by `seconds`, before the client leaves and before this process stops.

    Raises TooManyWaits, at once.
    """
    with counted(scope):
        leaving = asyncio.create_task(disconnected(receive))
        try:
            with hub.ended(task_id) as end:
                await asyncio.wait((end, leaving), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                return end.done() and end.result()
        finally:
            leaving.cancel()


@contextmanager
def counted(scope: Scope) -> Iterator[None]:
    """One wait of the key, which the views have just let in. Raises TooManyWaits."""
    holder = authentication.holder_of(authentication.digest_of(joined(scope["headers"], b"authorization")))
    if holder is None:
        raise TooManyWaits
    with _counted(waits, holder.key_id, most=WAITS_PER_KEY):
        yield


def counted_replay(key_id: int) -> AbstractContextManager[None]:
    """One image call of this key that waits for the task of another call. Raises TooManyWaits."""
    return _counted(replays, key_id, most=REPLAYS_PER_KEY)


@contextmanager
def _counted(held: Counter[int], key_id: int, *, most: int) -> Iterator[None]:
    if held[key_id] >= most:
        raise TooManyWaits
    held[key_id] += 1
    try:
        yield
    finally:
        held[key_id] -= 1
        if not held[key_id]:
            del held[key_id]
