"""Ark's image protocol, answered at once: `…/images/generations`, for pictures from text and from pictures."""

import asyncio
import base64
import secrets
import time
from typing import Any

from sandbox import steering
from sandbox.ark import errors as ark_errors
from sandbox.ark.errors import authenticate, error
from sandbox.ark.image_orders import Order, order_of
from sandbox.fan_out import FanOut
from sandbox.state import File, State
from sandbox.steering import SUBMIT, Script, Word
from sandbox.wire import Endpoint, Request, Response, json_response

PATH = "/ark/api/v3/images/generations"
REFUSALS = ("moderated", "moderated-output", "rate-limited", "status", "fail")
FAILED = {"error": {"code": "InternalServiceError", "message": "The image could not be generated."}}


class ArkImages:
    """The endpoint. A call makes one picture."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._fan_out = FanOut()

    def routes(self) -> list[Endpoint]:
        return [("POST", PATH, self.generate)]

    def open_jobs(self) -> int:
        """Returns 0: answers are immediate."""
        return 0

    async def generate(self, request: Request) -> Response:
        """POST: text and pictures to a picture."""
        self._state.audit.call("submit")
        authenticate(request)
        order = order_of(request.body)
        script, turns = steering.read(order.prompt), self._state.turns
        if word := turns.take(script, SUBMIT, order.prompt, REFUSALS):
            return error_for(word)
        self._state.audit.buy("image", order.prompt, request.headers.get("x-client-request-id"))
        index, is_empty = self._fan_out.take(order.prompt, script)
        await self._state.work(script)
        loss = turns.take(script, SUBMIT, order.prompt, steering.LOSSES)
        made = [await self._item(order, index, script, request.origin) for _ in range(1 + script.surplus)]
        return steering.struck(json_response(answer(order, [FAILED] if is_empty else made)), loss, error_for)

    async def _item(self, order: Order, index: int, script: Script, origin: str) -> dict[str, Any]:
        picture = order.picture(index)
        size = f"{order.width}x{order.height}"
        if not order.is_url and not script.has("url"):
            return {"b64_json": base64.b64encode(await asyncio.to_thread(picture.render)).decode(), "size": size}
        name = f"ark-{secrets.token_hex(8)}.{picture.output_format}"
        self._state.files[name] = File(media=picture, script=script)
        return {"url": f"{origin}/files/{name}", "size": size}


def error_for(word: Word) -> Response:
    """Returns the refusal for a steering word."""
    match word.name:
        case "moderated-output":
            message = "The request failed because the output image may contain sensitive information."
            return error(400, "OutputImageSensitiveContentDetected", message)
        case "fail":
            return error(400, "InvalidParameter", "The image could not be generated from this request.", param="prompt")
        case _:
            return ark_errors.error_for(word)


def answer(order: Order, items: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the body of a success."""
    count = sum("error" not in item for item in items)
    tokens = order.width * order.height // 256 * count
    return {
        "model": order.model,
        "created": int(time.time()),
        "data": items,
        "usage": {"generated_images": count, "output_tokens": tokens, "total_tokens": tokens},
    }
