"""The Gemini API's `models/{model}:generateContent` with pictures, answered at once, and its list of models."""

import asyncio
import base64
import secrets
from typing import Any

from sandbox import steering
from sandbox.fan_out import FanOut
from sandbox.gemini.errors import authenticate, error_for
from sandbox.gemini.orders import Order, order_of
from sandbox.pictures import Picture
from sandbox.state import State
from sandbox.steering import SUBMIT
from sandbox.wire import Endpoint, Request, Response, json_response

BASE = "/gemini/(v1beta|v1)/models"
MODEL = "gemini-3-pro-image"
REFUSALS = ("moderated", "moderated-output", "rate-limited", "status", "fail")


class Gemini:
    """The two endpoints. A call makes one picture."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._fan_out = FanOut()

    def routes(self) -> list[Endpoint]:
        return [("POST", f"{BASE}/([^/:]+):generateContent", self.generate), ("GET", BASE, self.models)]

    def open_jobs(self) -> int:
        """None: it answers at once."""
        return 0

    async def models(self, request: Request, version: str) -> Response:
        """GET: what a key may call."""
        authenticate(request)
        return json_response({"models": [{"name": f"models/{MODEL}", "version": version}]})

    async def generate(self, request: Request, version: str, model: str) -> Response:
        """POST: text and pictures to a picture."""
        self._state.audit.call("submit")
        authenticate(request)
        order = order_of(model, version, request.body)
        script, turns = steering.read(order.prompt), self._state.turns
        if word := turns.take(script, SUBMIT, order.prompt, REFUSALS):
            return error_for(word)
        self._state.audit.buy("image", order.prompt, request.headers.get("x-client-request-id"))
        index, is_empty = self._fan_out.take(order.prompt, script)
        await self._state.work(script)
        loss = turns.take(script, SUBMIT, order.prompt, steering.LOSSES)
        candidate = {"finishReason": "NO_IMAGE"} if is_empty else await made(order, index, drafts=script.surplus)
        return steering.struck(json_response(answer(model, order, candidate)), loss, error_for)


async def made(order: Order, index: int, *, drafts: int) -> dict[str, Any]:
    """A candidate with a thought, a word, drafts and the picture."""
    footer = f"after {order.references} reference image(s)" if order.references else ""
    parts: list[dict[str, Any]] = [{"text": "The sky comes first.", "thought": True}, {"text": "Here it is."}]
    for words in [*["a draft"] * drafts, footer]:
        picture = Picture(prompt=order.prompt, width=order.width, height=order.height, index=index, footer=words)
        data = base64.b64encode(await asyncio.to_thread(picture.render)).decode()
        parts.append({"inlineData": {"mimeType": picture.content_type, "data": data}, "thoughtSignature": "c2lnbmVk"})
    return {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}


def answer(model: str, order: Order, candidate: dict[str, Any]) -> dict[str, Any]:
    """The body of a success."""
    asked = 1 + len(order.prompt) // 4 + order.references * 258
    given = order.width * order.height // 1_000 if "content" in candidate else 0
    usage = {"promptTokenCount": asked, "candidatesTokenCount": given, "totalTokenCount": asked + given}
    return {
        "candidates": [{**candidate, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": model,
        "responseId": secrets.token_urlsafe(16),
    }
