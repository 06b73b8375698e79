"""Sells pictures in an immediate answer, for protocols with a count, with the effects of the steering words."""

import asyncio
import base64
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sandbox import steering
from sandbox.jobs import ErrorFor
from sandbox.pictures import Picture
from sandbox.state import File, State
from sandbox.steering import SUBMIT, Script
from sandbox.wire import Request, Response, json_response

REFUSALS = ("moderated", "moderated-output", "rate-limited", "status", "fail")
Show = Callable[[Picture], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A valid call; `picture` makes the one at an index."""

    prompt: str
    count: int
    picture: Callable[[int], Picture]


class AtOnce:
    """Sells pictures in one protocol's formats: its errors, and the body of a success around the items."""

    def __init__(self, state: State, *, error_for: ErrorFor) -> None:
        self._state = state
        self._error_for = error_for

    async def sell(self, request: Request, order: Order, show: Show, answer: Callable[[list[Any]], Any]) -> Response:
        """Answers a valid call. `show` makes a picture's item, `answer` the body around the items."""
        script, turns = steering.read(order.prompt), self._state.turns
        if word := turns.take(script, SUBMIT, order.prompt, REFUSALS):
            return self._error_for(word)
        self._state.audit.buy("image", order.prompt, request.headers.get("x-client-request-id"))
        await self._state.work(script)
        loss = turns.take(script, SUBMIT, order.prompt, steering.LOSSES)
        is_partial = turns.take(script, SUBMIT, order.prompt, ("partial",)) is not None
        count = max(1, order.count - is_partial) + script.surplus
        items = [await show(order.picture(index)) for index in range(count)]
        return steering.struck(json_response(answer(items)), loss, self._error_for)

    def link(self, picture: Picture, script: Script, origin: str) -> str:
        """Returns the URL of a file with the picture."""
        name = f"img-{secrets.token_hex(8)}.{picture.output_format}"
        self._state.files[name] = File(media=picture, script=script)
        return f"{origin}/files/{name}"


async def encoded(picture: Picture) -> str:
    """Returns the picture in base64."""
    return base64.b64encode(await asyncio.to_thread(picture.render)).decode()
