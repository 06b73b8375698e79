"""OpenAI's Images protocol, answered at once: `…/images/generations` (JSON) and `…/images/edits` (multipart)."""

import asyncio
import base64
import secrets
import time
from typing import Any

from sandbox import steering
from sandbox.openai.errors import authenticate, error_for
from sandbox.openai.orders import Order, form_fields, json_fields, order_of
from sandbox.pictures import Picture
from sandbox.state import File, State
from sandbox.steering import SUBMIT, Script
from sandbox.wire import Endpoint, Request, Response, json_response

BASE = "/openai/v1/images"
REFUSALS = ("moderated", "moderated-output", "rate-limited", "status", "fail")


class OpenAIImages:
    """The two endpoints."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self) -> list[Endpoint]:
        return [("POST", f"{BASE}/generations", self.generate), ("POST", f"{BASE}/edits", self.edit)]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def generate(self, request: Request) -> Response:
        """Text to pictures."""
        self._state.audit.call("submit")
        authenticate(request)
        return await self._run(request, order_of(json_fields(request), references=0))

    async def edit(self, request: Request) -> Response:
        """Text and pictures to pictures."""
        self._state.audit.call("submit")
        authenticate(request)
        fields, references = form_fields(request)
        return await self._run(request, order_of(fields, references=references))

    async def _run(self, request: Request, order: Order) -> Response:
        script, turns = steering.read(order.prompt), self._state.turns
        if word := turns.take(script, SUBMIT, order.prompt, REFUSALS):
            return error_for(word)
        reference = request.headers.get("x-client-request-id")
        self._state.audit.buy("image", order.prompt, reference)
        await self._state.work(script)
        loss = turns.take(script, SUBMIT, order.prompt, steering.LOSSES)
        count = order.count + script.surplus
        if turns.take(script, SUBMIT, order.prompt, ("partial",)):
            count = max(1, count - 1)
        make = self._link if script.has("url") else self._bytes
        items = [await make(order.picture(index), script, request.origin) for index in range(count)]
        return steering.struck(json_response(answer(order, items)), loss, error_for)

    async def _bytes(self, picture: Picture, script: Script, origin: str) -> dict[str, str]:
        return {"b64_json": base64.b64encode(await asyncio.to_thread(picture.render)).decode()}

    async def _link(self, picture: Picture, script: Script, origin: str) -> dict[str, str]:
        name = f"img-{secrets.token_hex(8)}.{picture.output_format}"
        self._state.files[name] = File(media=picture, script=script)
        return {"url": f"{origin}/files/{name}"}


def answer(order: Order, items: list[dict[str, str]]) -> dict[str, Any]:
    """Returns the body of a success."""
    text_tokens, image_tokens = 1 + len(order.prompt) // 4, order.references * 323
    output_tokens = len(items) * (order.width * order.height // 1_000)
    return {
        "created": int(time.time()),
        "background": order.background,
        "data": items,
        "output_format": order.output_format,
        "quality": order.quality,
        "size": f"{order.width}x{order.height}",
        "usage": {
            "input_tokens": text_tokens + image_tokens,
            "input_tokens_details": {"text_tokens": text_tokens, "image_tokens": image_tokens},
            "output_tokens": output_tokens,
            "total_tokens": text_tokens + image_tokens + output_tokens,
        },
    }
